import Lodestore

/// A list in memory that reads the writes of others from the history.
///
/// Writes by ``FireballStore/appAuthor`` are left out, because the program that owns the list has
/// already applied them to the list.
package struct FireballList: Sendable {
  /// The fireballs, the newest first.
  package private(set) var items: [Fireball]
  /// The position in the history up to which the list has read.
  package private(set) var token: HistoryToken

  /// Reads the current list.
  package init(_ fireballs: FireballStore) throws {
    (items, token) = try fireballs.store.read { snapshot in
      (try snapshot.fetch(Fireball.newestFirst), try snapshot.historyToken())
    }
  }

  /// The changes of the list by a merge.
  package struct Merge: Sendable, Equatable {
    package var inserted: [Fireball] = []
    package var updated: [Fireball] = []
    package var deleted: [Fireball] = []

    /// Makes an empty list.
    package init() {}
  }

  /// Applies the writes of others since the token.
  ///
  /// - Throws: ``StoreError/Code/expiredHistory`` if the writes were purged; then make a new list.
  @discardableResult
  package mutating func merge(from fireballs: FireballStore) throws -> Merge {
    let (touched, stored, now) = try fireballs.store.read { snapshot in
      let news = try snapshot.history(
        .after(token).of(Fireball.self).excluding(authors: FireballStore.appAuthor))
      let touched = Set(news.flatMap(\.changes).compactMap { $0.id(of: Fireball.self) })
      return (touched, try snapshot.fetch(touched), try snapshot.historyToken())
    }
    token = now
    return apply(touched, stored)
  }

  private mutating func apply(_ touched: Set<Fireball.ID>, _ stored: [Fireball]) -> Merge {
    var old: [Fireball.ID: Fireball] = [:]
    for item in items where touched.contains(item.id) { old[item.id] = item }
    var merge = Merge()
    for new in stored {
      switch old.removeValue(forKey: new.id) {
      case nil: merge.inserted.append(new)
      case let known? where known != new: merge.updated.append(new)
      default: break
      }
    }
    merge.deleted = Array(old.values)
    items = items.filter { !touched.contains($0.id) } + stored
    items.sort { $0.dateTimeStamp > $1.dateTimeStamp }
    return merge
  }
}
