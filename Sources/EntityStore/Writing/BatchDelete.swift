internal import LMDB
internal import LodestoreFormat

/// Removes many records with their index entries: records in the order of their ids, then the
/// entries of each index in key order, so that each page is visited once.
final class BatchDelete {
  /// How many records may be removed before their index entries are.
  private static let chunkSize = 1 << 18

  private let core: TransactionCore
  private let entity: StoredEntity
  private let changes: EntityChanges
  private let batch: ChangeBatch

  init(of entity: StoredEntity, core: TransactionCore, expectedCount: Int) {
    self.core = core
    self.entity = entity
    changes = core.changes(of: entity)
    batch = ChangeBatch(
      changes, expectedRemovals: min(expectedCount, Self.chunkSize), core: core)
  }

  /// Removes the records with `ids`, which ascend, and calls `body` with each before it goes;
  /// returns how many there were.
  ///
  /// After an error some are gone and some are not: the transaction can only be aborted.
  func delete(
    _ ids: [UInt64],
    _ body: ((UInt64, UnsafeRawBufferPointer) throws(StoreError) -> Void)? = nil
  ) throws(StoreError) -> Int {
    guard !ids.isEmpty else { return 0 }
    try core.raiseCounter(of: entity)
    var count = 0
    do {
      let cursor = try Cursor(entity.records, in: core.transaction)
      var left = Self.chunkSize
      for id in ids {
        guard try cursor.seek(id) else { continue }
        try body?(id, cursor.value)
        try batch.remove(try changes.stored(cursor.value, id: id), id: id, at: cursor)
        count &+= 1
        left &-= 1
        if left == 0 {
          try batch.finishRemovals()
          left = Self.chunkSize
        }
      }
      try batch.finishRemovals()
    } catch {
      let failure = StoreError(wrapping: error)
      core.brokenBy = failure
      throw failure
    }
    return count
  }
}
