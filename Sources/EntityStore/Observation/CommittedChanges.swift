internal import LMDB
internal import LodestoreFormat

/// What is new in a commit, and a read of it: for one round of observers, on one thread.
final class CommittedChanges {
  let delta: ChangeDelta
  /// The commit behind which it has changed.
  let from: UInt64
  let commit: UInt64
  let core: TransactionCore
  private var touched: [EntityNumber: TouchedRecords] = [:]

  init(_ delta: ChangeDelta, from: UInt64, _ core: TransactionCore) {
    self.delta = delta
    self.from = from
    self.core = core
    commit = core.commitNumber.rawValue
  }

  /// What has happened to the records of an entity; `nil` for nothing.
  func records(of entity: StoredEntity) throws(StoreError) -> TouchedRecords? {
    if let known = touched[entity.number] { return known }
    guard let delta = delta.entity(entity.number) else { return nil }
    let made = try TouchedRecords(delta, of: entity, core)
    touched[entity.number] = made
    return made
  }

  /// The bytes of a record, valid while the read lasts; `nil` where there is none.
  func record(_ id: UInt64, of entity: StoredEntity) throws(StoreError) -> UnsafeRawBufferPointer? {
    try core.record(id, of: entity)
  }
}

/// The records of one entity that have changed, as they were and as they are, for all observers of
/// a round.
final class TouchedRecords {
  struct Record {
    let id: UInt64
    /// As it was; `nil` where it was not there.
    let old: UnsafeRawBufferPointer?
    /// As it is; `nil` where it is not there.
    let new: UnsafeRawBufferPointer?
  }

  /// Whether all that has changed is in ``records``, with its bytes.
  let isWhole: Bool
  let records: [Record]
  /// The bytes of records as they were.
  private let storage: [UnsafeMutableRawBufferPointer]

  init(_ delta: EntityDelta, of entity: StoredEntity, _ core: TransactionCore) throws(StoreError) {
    var records: [Record] = []
    var storage: [UnsafeMutableRawBufferPointer] = []
    var isWhole = !delta.isUnknown
    for id in delta.touched where isWhole {
      var old: UnsafeRawBufferPointer?
      if !delta.inserted.contains(id) {
        guard let bytes = delta.olds[id] else {
          isWhole = false
          break
        }
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
        copy.copyBytes(from: bytes)
        storage.append(copy)
        old = UnsafeRawBufferPointer(copy)
      }
      records.append(Record(id: id, old: old, new: try core.record(id, of: entity)))
    }
    self.isWhole = isWhole
    self.records = records
    self.storage = storage
  }

  deinit { for bytes in storage { bytes.deallocate() } }
}
