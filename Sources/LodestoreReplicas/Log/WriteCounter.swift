internal import LodestoreFormat

/// Counts the changes of each write of one unit, whose entries are added in their order.
///
/// The log does not tell inserted records from updated ones. Inserted records have ids at or above
/// the next id before the write.
struct WriteCounter {
  /// The counted writes in ascending order.
  private(set) var writes: [ReplicaWrite] = []
  /// The id of the next new record of each entity, before the current write.
  private var nextIDs: [EntityNumber: UInt64]
  private let names: [EntityNumber: String]
  /// The part of a write whose next step follows.
  private var current: (write: ReplicaWrite, changes: [EntityNumber: ReplicaWrite.Changes])?
  /// The next ids after the current write.
  private var laterIDs: [EntityNumber: UInt64] = [:]

  init(after nextIDs: [EntityNumber: UInt64], names: [EntityNumber: String]) {
    self.nextIDs = nextIDs
    self.names = names
  }

  mutating func add(_ entry: LogEntry) throws(PackError) {
    var reader = try PackReader(entry)
    while let item = try reader.next() {
      if case .steps(let steps) = item { for step in steps { add(step, entry.head) } }
    }
  }

  private mutating func add(_ step: ReplayStep, _ head: EntryHead) {
    var (write, changes) =
      current ?? (ReplicaWrite(step.writes, time: step.time, head), [:])
    write.slot = head.slot
    (write.author, write.context) = (step.author, step.context)
    func count(
      _ entity: EntityNumber, _ body: (inout ReplicaWrite.Changes) -> Void
    ) {
      let empty = ReplicaWrite.Changes(entity: names[entity] ?? "entity \(entity.rawValue)")
      body(&changes[entity, default: empty])
    }
    for entity in step.replacedEntities { count(entity) { $0.isWhole = true } }
    for records in step.records {
      let next = nextIDs[records.entity] ?? 1
      // The ids of a group ascend.
      let updated = UInt64(records.ids.prefix { $0 < next }.count)
      count(records.entity) {
        $0.updatedCount += updated
        $0.insertedCount += UInt64(records.ids.count) - updated
      }
    }
    for deleted in step.deleted {
      count(deleted.entity) { $0.deletedCount += UInt64(deleted.ids.count) }
    }
    write.linkCount += step.links.reduce(0) { $0 + UInt64($1.pairs.count) }
    laterIDs.merge(step.nextIDs) { max($0, $1) }
    current = (write, changes)
    if !step.continues { endWrite() }
  }

  private mutating func endWrite() {
    guard let ended = current else { return }
    current = nil
    nextIDs.merge(laterIDs) { max($0, $1) }
    laterIDs = [:]
    var write = ended.write
    write.changes = ended.changes.sorted { $0.key < $1.key }.map(\.value)
    writes.append(write)
  }
}

extension LogEntry {
  /// The next ids of the entities after the last unit; `nil` if the unit continues.
  func lastNextIDs() throws(PackError) -> [EntityNumber: UInt64]? {
    var nextIDs: [EntityNumber: UInt64]?
    var reader = try PackReader(self)
    while let item = try reader.next() {
      if case .end(let end) = item { nextIDs = end.nextIDs }
    }
    return nextIDs
  }
}
