public import LodestoreEssentials
internal import LodestoreFormat

/// One write, as recorded in the history.
///
/// Writes that share a commit are separate, and so are the pages of an import.
public struct HistoryWrite: Sendable, Identifiable {
  /// The token after the write; later writes come after this token.
  public let token: HistoryToken
  /// The time at which the write began to change records.
  public let time: Date
  /// The author of the write; for an import, its name.
  public let author: String?
  /// The name that the program gave to the part of it that wrote; for an import, the page that was
  /// imported.
  public let contextName: String?
  /// The number of the process that wrote.
  public let process: Int
  /// The write that this write has undone, if it made no other changes; see
  /// ``WriteTransaction/undo(_:)``.
  public let undoes: HistoryToken?
  /// The changes of records; each record occurs once, with its final change.
  public let changes: HistoryChanges
  /// The added and removed links of to-many relationships.
  ///
  /// A link held in an attribute is a change of that attribute.
  public let links: [HistoryLinks]
  /// The entities whose records may have changed without being recorded.
  ///
  /// Either their history begins here while they have records, or a migration has changed them.
  /// Read their records again.
  public let restartedEntities: [String]
  /// The names of entities without a history whose records or links the write also changed.
  ///
  /// Changes of these entities are not in ``changes`` and ``links``, and cannot be undone. The list
  /// is empty for a write by an earlier version of the library. Pages of an import that share a
  /// commit have equal lists.
  public let unrecordedEntities: [String]
  /// The number of changes that ``HistoryQuery/matching(_:)`` excluded without a decision.
  ///
  /// The record was deleted, and neither an image nor the values for the condition were kept.
  public let undecidedCount: Int

  /// The number of the write in the history.
  public var id: UInt64 { token.number }
}

/// The change of one record in a write.
public struct HistoryChange: Sendable, Hashable {
  /// The kind of the change.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The record was inserted.
    case inserted
    /// The record has other values.
    case updated
    /// The record was deleted.
    case deleted
  }

  /// The kind of the change.
  public let kind: Kind
  /// The entity's name.
  public let entity: String
  /// The record's id, without its type; see ``id(of:)``.
  public let recordID: UInt64
  /// The names of the changed attributes; empty unless the record was updated.
  public let attributes: [String]
  /// The number of the write.
  public let write: UInt64
  /// Whether the record was deleted because it had expired; see `Store.evict()`.
  ///
  /// False for records that a delete rule deleted together with an expired one.
  public let isExpired: Bool

  let entityNumber: UInt32
  /// The write number under which the image of the record is stored.
  let image: UInt64

  /// The record's id; `nil` when the record belongs to another entity.
  public func id<E: Entity>(of _: E.Type) -> RecordID<E>? {
    E.schema.name == entity ? RecordID(rawValue: recordID) : nil
  }
}

/// The changes of a write, grouped by entity, then inserts, updates and deletes, then by ids.
///
/// Consecutive ids are stored as ranges, so a batch of a million inserts is small.
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
  let write: UInt64
  let image: UInt64

  /// The number of changed records.
  ///
  /// - Complexity: O(*r*) for *r* ranges.
  public var count: Int { Self.total(groups) }

  /// Whether no record was changed.
  public var isEmpty: Bool { groups.isEmpty }

  /// The names of the entities, without duplicates.
  public var entities: [String] {
    groups.reduce(into: []) { if $0.last != $1.entity { $0.append($1.entity) } }
  }

  /// Returns the number of changes of one kind, of one entity or of all.
  public func count(of kind: HistoryChange.Kind, in entity: String? = nil) -> Int {
    Self.total(
      groups.lazy.filter { $0.kind == kind && (entity == nil || $0.entity == entity) })
  }

  /// Returns the number of records deleted because they had expired, of one entity or of all.
  public func expiredCount(in entity: String? = nil) -> Int {
    Self.total(groups.lazy.filter { $0.isExpired && (entity == nil || $0.entity == entity) })
  }

  /// The sum is limited, because a damaged file may contain impossible numbers.
  private static func total(_ groups: some Sequence<Group>) -> Int {
    groups.reduce(0) { $0.addingClamped($1.ids.count) }
  }

  /// Creates an iterator over the single changes.
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
            write: changes.write, isExpired: group.isExpired,
            entityNumber: group.entityNumber, image: changes.image)
        }
        position += 1
        ids = position < changes.groups.count ? changes.groups[position].ids.makeIterator() : nil
      }
      return nil
    }
  }
}

/// Links of one relationship that a write added, removed or moved.
public struct HistoryLinks: Sendable {
  /// The kinds of changes of links.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The links were added.
    case added
    /// The links were removed.
    case removed
    /// The links have other positions in an ordered relationship.
    case moved
  }

  /// A link between two records.
  public struct Link: Sendable, Hashable {
    /// The record of ``HistoryLinks/entity``, without its type.
    public let recordID: UInt64
    /// The record of ``HistoryLinks/target``, without its type.
    public let targetID: UInt64
  }

  /// The entity from whose perspective the relationship is named.
  public let entity: String
  /// The name of the relationship in that entity.
  public let relationship: String
  /// The entity of the targets.
  public let target: String
  /// The kind of the change.
  public let kind: Kind
  /// The links, in the order of the first ids.
  public let links: [Link]

  let number: UInt32
}
