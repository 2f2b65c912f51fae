internal import LodestoreFormat

/// The changes of the records of one entity between two commits, for observers.
struct EntityDelta: Sendable {
  /// The records that may have changed; every record may have when ``isUnknown`` is true.
  var touched = IDRuns()
  /// The records of ``touched`` that did not exist before.
  var inserted = IDRuns()
  /// The bytes before the changes of the other records of ``touched``, by record id; not all of
  /// them are kept.
  var olds: [UInt64: [UInt8]] = [:]
  /// Whether further changes exist that are not listed.
  var isUnknown = false

  /// The maximum number of listed records.
  private static let largestCount = 4_096

  static let unknown = EntityDelta(isUnknown: true)

  /// Adds the changes of a later commit.
  mutating func merge(_ later: EntityDelta) {
    if isUnknown || later.isUnknown {
      self = .unknown
      return
    }
    for (id, bytes) in later.olds where !touched.contains(id) { olds[id] = bytes }
    // A record that an earlier commit deleted, and an undo restored, existed before these changes.
    // So it does not count as inserted.
    inserted = IDRuns(inserted.ranges + later.inserted.subtracting(touched).ranges)
    touched = IDRuns(touched.ranges + later.touched.ranges)
    limit()
  }

  /// Replaces the list by ``unknown`` when it has more than ``largestCount`` records.
  mutating func limit() { if touched.count > Self.largestCount { self = .unknown } }
}

/// The changes between two commits.
struct CommitDelta: Sendable {
  var entities: [EntityNumber: EntityDelta] = [:]
  /// The numbers of relationships whose links have changed.
  var relationships: Set<UInt32> = []
  /// Whether anything may have changed.
  var isUnknown = false

  static let unknown = CommitDelta(isUnknown: true)

  var isEmpty: Bool { entities.isEmpty && relationships.isEmpty && !isUnknown }

  func entity(_ number: EntityNumber) -> EntityDelta? { isUnknown ? .unknown : entities[number] }

  /// Adds the changes of later commits.
  mutating func merge(_ later: CommitDelta) {
    isUnknown = isUnknown || later.isUnknown
    relationships.formUnion(later.relationships)
    for (number, delta) in later.entities { merge(delta, of: number) }
  }

  /// Adds later changes of one entity's records.
  fileprivate mutating func merge(_ later: EntityDelta, of entity: EntityNumber) {
    guard entities[entity] != nil else {
      entities[entity] = later
      return
    }
    entities[entity]?.merge(later)
  }
}

extension CommitDelta {
  /// Reads the changes of the writes after `number` from the history.
  ///
  /// Entities without a history may have changed.
  init(afterWrite number: UInt64, _ core: TransactionCore) throws {
    let log = HistoryLog(core)
    if let purged = try log.purged(), purged.number > number {
      self = .unknown
      return
    }
    self.init()
    for entity in core.schema.entities where entity.description.history == nil {
      entities[entity.number] = .unknown
    }
    try log.forEachPart(from: number + 1) { _, _, part in
      for links in part.links { relationships.insert(links.relationship) }
      for change in part.changes {
        var entity = EntityDelta(touched: change.ids)
        switch change.kind {
        case .inserted: entity.inserted = change.ids
        case .updated, .deleted: break
        case .restarted: entity = .unknown
        }
        entity.limit()
        merge(entity, of: change.entity)
      }
      return true
    }
    // The history does not record links between entities that both have no history, so any such
    // link may have changed.
    for relationship in core.schema.relationships
    where relationship.from.description.history == nil && relationship.to.description.history == nil
    {
      relationships.insert(relationship.description.number)
    }
  }
}
