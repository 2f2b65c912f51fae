internal import LodestoreFormat

/// What has happened to the records of one entity between two commits, as far as observers have to know.
struct EntityDelta: Sendable {
  /// Records that may have changed; all of them where ``isUnknown``.
  var touched = IDRuns()
  /// Those of them that were not there before.
  var inserted = IDRuns()
  /// The others as they were before, as far as they were kept.
  var olds: [UInt64: [UInt8]] = [:]
  /// Whether more has happened than is listed.
  var isUnknown = false

  /// More is not told one by one.
  private static let largestCount = 4_096

  static let unknown = EntityDelta(isUnknown: true)

  /// Adds what has happened after it.
  mutating func merge(_ later: EntityDelta) {
    if isUnknown || later.isUnknown {
      self = .unknown
      return
    }
    for (id, bytes) in later.olds where !touched.contains(id) { olds[id] = bytes }
    // What was there before, was deleted and came back by an undo is not new.
    inserted = IDRuns(inserted.ranges + later.inserted.subtracting(touched).ranges)
    touched = IDRuns(touched.ranges + later.touched.ranges)
    limit()
  }

  /// Forgets what has happened to too many records.
  mutating func limit() {
    if touched.count > Self.largestCount { self = .unknown }
  }
}

/// What has happened between two commits.
struct ChangeDelta: Sendable {
  var entities: [EntityNumber: EntityDelta] = [:]
  /// The numbers of relationships whose links have changed.
  var relationships: Set<UInt32> = []
  /// Whether anything may have happened.
  var isUnknown = false

  static let unknown = ChangeDelta(isUnknown: true)

  var isEmpty: Bool { entities.isEmpty && relationships.isEmpty && !isUnknown }

  func entity(_ number: EntityNumber) -> EntityDelta? {
    isUnknown ? .unknown : entities[number]
  }

  /// Adds what has happened after it.
  mutating func merge(_ later: ChangeDelta) {
    isUnknown = isUnknown || later.isUnknown
    relationships.formUnion(later.relationships)
    for (number, delta) in later.entities { merge(delta, of: number) }
  }

  /// Adds what has happened to the records of one entity after it.
  fileprivate mutating func merge(_ later: EntityDelta, of entity: EntityNumber) {
    guard entities[entity] != nil else {
      entities[entity] = later
      return
    }
    entities[entity]?.merge(later)
  }
}

extension ChangeDelta {
  /// What the history tells of the writes after `number`; entities that keep none may have changed.
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
    // Links of entities without a history are told nowhere.
    for relationship in core.schema.relationships
    where relationship.from.description.history == nil
      && relationship.to.description.history == nil
    {
      relationships.insert(relationship.description.number)
    }
  }
}
