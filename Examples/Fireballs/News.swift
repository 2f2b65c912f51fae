import Foundation
import Lodestore

/// The changes of one write.
package struct News: Sendable, Equatable {
  package var time: Date
  package var author: String?
  package var inserted: Int
  package var updated: Int
  /// The number of deleted fireballs, and the time of the last of them.
  package var deleted: Int
  package var lastDeleted: Date?
}

extension FireballStore {
  /// Returns the writes since the last call for `reader`.
  ///
  /// The store remembers the position of each reader.
  package func news(of reader: String) async throws -> [News] {
    try await store.write { tx in
      let known = try tx.historyToken(ofConsumer: reader)
      let writes = try tx.history(.after(known).of(Fireball.self))
      var news: [News] = []
      for write in writes where !write.changes.isEmpty {
        let gone = try write.changes.filter { $0.kind == .deleted }.compactMap {
          try tx.preserved(\Fireball.Attributes.dateTimeStamp, of: $0)
        }
        news.append(
          News(
            time: write.time, author: write.author, inserted: write.changes.count(of: .inserted),
            updated: write.changes.count(of: .updated),
            deleted: write.changes.count(of: .deleted), lastDeleted: gone.max()))
      }
      if let last = writes.last { try tx.setHistoryToken(last.token, ofConsumer: reader) }
      return news
    }
  }
}
