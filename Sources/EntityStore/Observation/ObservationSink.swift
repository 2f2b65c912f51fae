internal import LodestoreFormat

/// Informs observers of a write's changes, after they are on disk.
final class ObservationSink: ChangeSink {
  let name = "observers"
  let hearsEveryCommit = true
  private let center: ObservationCenter
  private let observed: Set<EntityNumber>
  private var changes: [EntityNumber: NetChanges] = [:]
  private var olds: [EntityNumber: [UInt64: [UInt8]]] = [:]
  private var relationships: Set<UInt32> = []

  /// The maximum number of earlier versions that are kept for each entity.
  private static let largestOldCount = 512
  /// The size in bytes above which an earlier version of a record is not kept.
  private static let largestRecord = 64 << 10

  init(_ center: ObservationCenter, observed: Set<EntityNumber>) {
    self.center = center
    self.observed = observed
  }

  func interest(in entity: StoredEntity) -> ChangeInterest? {
    observed.contains(entity.number) ? [.attributes, .eachRemoval, .oldRecord] : nil
  }

  func record(_ change: RecordChange, of entity: StoredEntity) throws(StoreError) {
    changes.note(change, of: entity)
    switch change {
    case .updated(let id, let old?, _, let attributes) where attributes?.isEmpty != true:
      keep(old, id, entity.number)
    case .removed(let id, let old?): keep(old, id, entity.number)
    default: break
    }
  }

  /// Keeps the version of the record from before the first change in the write.
  private func keep(_ old: RecordView, _ id: UInt64, _ entity: EntityNumber) {
    guard olds[entity]?.count ?? 0 < Self.largestOldCount, old.bytes.count <= Self.largestRecord,
      olds[entity]?[id] == nil
    else { return }
    olds[entity, default: [:]][id] = Array(old.bytes)
  }

  func record(_ change: borrowing LinkChange) throws(StoreError) {
    relationships.insert(change.end.relationship.description.number)
  }

  func recordMoves(_: [UInt64], of _: UInt64, by end: RelationshipEnd) throws(StoreError) {
    relationships.insert(end.relationship.description.number)
  }

  func committed(_ write: CommittedWrite) {
    var delta = CommitDelta(relationships: relationships)
    for (number, changes) in changes {
      let set = changes.result()
      if set.isEmpty { continue }
      let ranges = set.inserted.ranges + set.deleted.ranges + set.updated.flatMap(\.ids.ranges)
      var entity = EntityDelta(touched: IDRuns(ranges), inserted: set.inserted)
      entity.olds = (olds[number] ?? [:]).filter { !set.inserted.contains($0.key) }
      entity.limit()
      delta.entities[number] = entity
    }
    center.note(delta, of: observed, in: write.commit.rawValue)
  }
}

extension [EntityNumber: NetChanges] {
  /// Adds a change; the sink's interest must include changed attributes and each removed record.
  mutating func note(_ change: RecordChange, of entity: StoredEntity) {
    let number = entity.number
    switch change {
    case .inserted(let ids): self[number, default: NetChanges(of: entity)].insert(ids)
    case .insertedRecord(let id, _):
      self[number, default: NetChanges(of: entity)].insert(id..<id + 1)
    case .updated(let id, _, _, let attributes?):
      self[number, default: NetChanges(of: entity)].update(id, attributes)
    case .removed(let id, _): self[number, default: NetChanges(of: entity)].remove(id)
    case .updated, .cleared: break
    }
  }
}
