internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The changes up to a commit, and a read of it, for one round of observers on one thread.
final class ObservationRound {
  /// A record that has changed.
  struct Record {
    let id: UInt64
    /// The bytes before the changes; `nil` when the record did not exist.
    let old: [UInt8]?
    /// The current bytes; `nil` when the record does not exist.
    let new: ByteView?
  }

  let delta: CommitDelta
  /// The commit before the changes.
  let from: UInt64
  let commit: UInt64
  let core: TransactionCore
  private var known: [EntityNumber: [Record]?] = [:]

  init(_ delta: CommitDelta, from: UInt64, _ core: TransactionCore) {
    self.delta = delta
    self.from = from
    self.core = core
    commit = core.commitNumber.rawValue
  }

  /// The changed records of an entity.
  ///
  /// Returns `nil` when the delta does not list all of them, or lacks the earlier version of one.
  func records(of entity: StoredEntity) throws(StoreError) -> [Record]? {
    if let records = known[entity.number] { return records }
    let records = try findRecords(of: entity)
    known.updateValue(records, forKey: entity.number)
    return records
  }

  private func findRecords(of entity: StoredEntity) throws(StoreError) -> [Record]? {
    guard let delta = delta.entity(entity.number) else { return [] }
    if delta.isUnknown { return nil }
    var records: [Record] = []
    for id in delta.touched {
      let old = delta.olds[id]
      if old == nil, !delta.inserted.contains(id) { return nil }
      records.append(Record(id: id, old: old, new: try core.record(id, of: entity)))
    }
    return records
  }

  /// The bytes of a record, valid while the read lasts; `nil` when there is no such record.
  func record(_ id: UInt64, of entity: StoredEntity) throws(StoreError) -> ByteView? {
    try core.record(id, of: entity)
  }
}
