#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif
internal import LodestoreFormat

/// One write as the history reports it.
///
/// Each write is one, also where several share a commit, and so is each page of an import.
public struct HistoryTransaction: Sendable, Identifiable {
  /// The place after the write: later writes are after this token.
  public let token: HistoryToken
  /// When the write began to change records.
  public let time: Date
  /// Who wrote; of an import, its name.
  public let author: String?
  /// The part of the program that wrote; of an import, the page.
  public let contextName: String?
  /// The number of the process that wrote.
  public let process: Int
  /// The write that this one has taken back, where it has done nothing else; see
  /// ``WriteTransaction/undo(_:)``.
  public let undoes: HistoryToken?
  /// The changes of records: each record is in it once, with its final change.
  public let changes: HistoryChanges
  /// The links of relationships to many that were added and removed; those that an attribute holds
  /// are changes of that attribute.
  public let links: [HistoryLinks]
  /// Entities of which records may have changed that no write tells of.
  ///
  /// Their history begins here while they have records, or a migration has changed them: read them
  /// again.
  public let restartedEntities: [String]
  /// Entities without a history of which the write changed records or links too, by name.
  ///
  /// None of these changes is among ``changes`` and ``links``, and none can be undone. A write by
  /// an earlier version of the library names none. Pages of an import that share a commit name the
  /// same entities.
  public let untoldEntities: [String]
  /// How many changes ``HistoryQuery/matching(_:)`` left out undecided.
  ///
  /// The record is gone, and neither an image nor the values that the condition needs are kept.
  public let undecidedCount: Int

  /// The number of the write in the history.
  public var id: UInt64 { token.number }
}

/// One record that a write has changed.
public struct HistoryChange: Sendable, Hashable {
  /// The kind of the change.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The record is new.
    case inserted
    /// The record has other values.
    case updated
    /// The record is gone.
    case deleted
  }

  /// The kind of the change.
  public let kind: Kind
  /// The entity's name.
  public let entity: String
  /// The record's id, without its type; see ``id(of:)``.
  public let recordID: UInt64
  /// The names of the attributes that have other values; of an update alone.
  public let attributes: [String]
  /// The number of the write.
  public let transaction: UInt64
  /// Whether the record was deleted because its date had passed; see `Store.evict()`.
  ///
  /// Records that went with it by the rules of relationships have not expired themselves.
  public let isExpired: Bool

  let entityNumber: UInt32
  /// Under which number the image of the record is kept.
  let image: UInt64

  /// The record's id; `nil` when it is one of another entity.
  public func id<E: Entity>(of _: E.Type) -> RecordID<E>? {
    E.schema.name == entity ? RecordID(rawValue: recordID) : nil
  }
}

/// The changes of a write: by entity, and in each inserts, updates and deletes, by ids.
///
/// Kept as ranges of ids where they are ranges, so that a batch of a million inserts is small.
public struct HistoryChanges: Sequence, Sendable {
  struct Group: Sendable {
    let entity: String
    let entityNumber: UInt32
    let kind: HistoryChange.Kind
    let attributes: [String]
    let ids: IDRuns
    var isExpired = false
  }

  let groups: [Group]
  let transaction: UInt64
  let image: UInt64

  /// How many records were changed.
  ///
  /// - Complexity: O(r) for r ranges
  public var count: Int { Self.total(groups) }

  /// Whether no record was changed.
  public var isEmpty: Bool { groups.isEmpty }

  /// The names of the entities, each once.
  public var entities: [String] {
    groups.reduce(into: []) { if $0.last != $1.entity { $0.append($1.entity) } }
  }

  /// How many records of an entity were changed in one way.
  public func count(of kind: HistoryChange.Kind, in entity: String? = nil) -> Int {
    Self.total(
      groups.lazy.filter { $0.kind == kind && (entity == nil || $0.entity == entity) })
  }

  /// How many records of an entity, or of all of them, were deleted because they had expired.
  public func expiredCount(in entity: String? = nil) -> Int {
    Self.total(groups.lazy.filter { $0.isExpired && (entity == nil || $0.entity == entity) })
  }

  /// A damaged file may tell of more than there can be.
  private static func total(_ groups: some Sequence<Group>) -> Int {
    groups.reduce(0) { sum, group in
      let (total, isTooLarge) = sum.addingReportingOverflow(group.ids.count)
      return isTooLarge ? .max : total
    }
  }

  /// One change after the other.
  @_documentation(visibility: internal)
  public func makeIterator() -> Iterator { Iterator(self) }

  /// A position among the changes.
  @_documentation(visibility: internal)
  public struct Iterator: IteratorProtocol {
    private let changes: HistoryChanges
    private var position = 0
    private var ids: IDRuns.Iterator?

    fileprivate init(_ changes: HistoryChanges) {
      self.changes = changes
      ids = changes.groups.first?.ids.makeIterator()
    }

    /// The next change; `nil` after the last.
    @_documentation(visibility: internal)
    public mutating func next() -> HistoryChange? {
      while position < changes.groups.count {
        let group = changes.groups[position]
        if let id = ids?.next() {
          return HistoryChange(
            kind: group.kind, entity: group.entity, recordID: id, attributes: group.attributes,
            transaction: changes.transaction, isExpired: group.isExpired,
            entityNumber: group.entityNumber, image: changes.image)
        }
        position += 1
        ids = position < changes.groups.count ? changes.groups[position].ids.makeIterator() : nil
      }
      return nil
    }
  }
}

/// Links of one relationship that a write has added, removed or moved.
public struct HistoryLinks: Sendable {
  /// The kinds of changes of links.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The links are new.
    case added
    /// The links are gone.
    case removed
    /// The links are at other places of an ordered relationship.
    case moved
  }

  /// Two records.
  public struct Link: Sendable, Hashable {
    /// The record of ``HistoryLinks/entity``, without its type.
    public let recordID: UInt64
    /// The record of ``HistoryLinks/target``, without its type.
    public let targetID: UInt64
  }

  /// The entity that the relationship is seen from.
  public let entity: String
  /// The name of the relationship in that entity.
  public let relationship: String
  /// The entity that it leads to.
  public let target: String
  /// The kind of the change.
  public let kind: Kind
  /// In the order of the first ids.
  public let links: [Link]

  let number: UInt32
}
