internal import LMDB
internal import LodestoreFormat

/// How many records a batch delete removes before their index entries.
private let removalsPerRound = 1 << 18

extension TransactionCore {
  /// Removes the records with `ids`, which ascend, and calls `body` with each before it is removed;
  /// returns how many there were.
  ///
  /// Records are removed in the order of their ids, then the entries of each index in key order, so that
  /// each page is visited once.
  ///
  /// After an error some are removed and some are not: the transaction can only be aborted.
  func delete(
    _ ids: [UInt64], of entity: StoredEntity,
    _ body: ((UInt64, UnsafeRawBufferPointer) throws(StoreError) -> Void)? = nil
  ) throws(StoreError) -> Int {
    guard !ids.isEmpty else { return 0 }
    try raiseCounter(of: entity)
    let changes = changes(of: entity)
    let batch = ChangeBatch(
      changes, expectedRemovals: min(ids.count, removalsPerRound), core: self)
    var count = 0
    try breakingOnError {
      try forEachStored(ids, of: entity) { id, cursor in
        try body?(id, cursor.value)
        try batch.remove(try changes.stored(cursor.value, id: id), id: id, at: cursor)
        count &+= 1
        if count % removalsPerRound == 0 { try batch.finishRemovals() }
      }
      try batch.finishRemovals()
    }
    return count
  }
}
