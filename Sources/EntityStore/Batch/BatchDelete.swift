internal import LMDB
internal import LodestoreFormat

/// Removes many records with their index entries: records in the order of their ids, then the
/// entries of each index in key order, so that each page is visited once.
final class BatchDelete {
  /// Entries are collected for so many records at a time.
  private static let chunkSize = 1 << 18

  private let core: TransactionCore
  private let entity: StoredEntity
  private let arenas: EntryArenas

  init(of entity: StoredEntity, core: TransactionCore, expectedCount: Int) {
    self.core = core
    self.entity = entity
    arenas = EntryArenas(
      count: entity.indexes.count, expectedCount: min(expectedCount, Self.chunkSize))
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
      for (place, id) in ids.enumerated() {
        guard try cursor.seek(id) else { continue }
        try body?(id, cursor.value)
        let view = try entity.view(cursor.value, id: id)
        for (index, arena) in zip(entity.indexes, 0...) {
          try core.encodeKey(of: view, id: id, in: index, of: entity)
          arenas[arena].append(key: core.key.bytes, recordID: id)
        }
        try cursor.delete()
        count += 1
        if place % Self.chunkSize == Self.chunkSize - 1 { try removeEntries() }
      }
      try removeEntries()
    } catch {
      let failure = StoreError(wrapping: error)
      core.brokenBy = failure
      throw failure
    }
    return count
  }

  private func removeEntries() throws(StoreError) {
    for (place, index) in entity.indexes.enumerated() {
      arenas[place].sort()
      try arenas[place].remove(from: index, core: core)
    }
  }
}
