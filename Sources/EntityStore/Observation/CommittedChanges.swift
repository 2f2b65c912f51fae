internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The changes up to a commit, and a read of it: for one round of observers, on one thread.
final class CommittedChanges {
  /// A record that has changed.
  struct Record {
    let id: UInt64
    /// As it was; `nil` where it was not there.
    let old: [UInt8]?
    /// As it is; `nil` where it is not there.
    let new: ByteView?
  }

  let delta: ChangeDelta
  /// The commit after which the changes were made.
  let from: UInt64
  let commit: UInt64
  let core: TransactionCore
  private var known: [EntityNumber: [Record]?] = [:]

  init(_ delta: ChangeDelta, from: UInt64, _ core: TransactionCore) {
    self.delta = delta
    self.from = from
    self.core = core
    commit = core.commitNumber.rawValue
  }

  /// The records of an entity that have changed; `nil` where the delta does not list all of them, or
  /// lacks one as it was before.
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

  /// The bytes of a record, valid while the read lasts; `nil` where there is none.
  func record(_ id: UInt64, of entity: StoredEntity) throws(StoreError) -> ByteView? {
    try core.record(id, of: entity)
  }
}
