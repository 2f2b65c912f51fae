internal import LMDB
internal import LodestoreFormat

/// Removes many records with their index entries: records in the order of their ids, then the
/// entries of each index in key order, so that each page is visited once.
final class BatchDelete {
  /// Entries are collected for so many records at a time.
  private static let chunkSize = 1 << 18

  private let core: TransactionCore
  private let entity: StoredEntity
  /// Of each index.
  private let entries: [CollectedEntries]
  private let keys: BatchKeys
  /// Copies of records that are gone and whose entries are not yet collected, so many at a time as
  /// stay in the cache.
  @exclusivity(unchecked) private var gone = RecordRow(byteCount: 1 << 16)

  init(of entity: StoredEntity, core: TransactionCore, expectedCount: Int) {
    self.core = core
    self.entity = entity
    entries = CollectedEntries.ofIndexes(
      of: entity, expectedCount: min(expectedCount, Self.chunkSize))
    keys = BatchKeys(of: entity)
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
        try keep(cursor.value, id)
        try cursor.delete()
        count &+= 1
        left &-= 1
        if left == 0 {
          try removeEntries()
          left = Self.chunkSize
        }
      }
      try removeEntries()
      if count > 0 { try core.noteChange(of: entity) }
    } catch {
      let failure = StoreError(wrapping: error)
      core.brokenBy = failure
      throw failure
    }
    return count
  }

  /// Keeps what the index entries of a record are made of.
  private func keep(_ bytes: UnsafeRawBufferPointer, _ id: UInt64) throws(StoreError) {
    let contentCount = bytes.count - RecordLayout.checksumSize
    guard contentCount >= RecordLayout.headerSize,
      bytes.uint16(at: 0) & RecordLayout.highestNumber == entity.layout.number
    else {
      try collectGone()
      return try collect(try entity.view(bytes, id: id), id)
    }
    if gone.isFull(for: contentCount) { try collectGone() }
    gone.append(UnsafeRawBufferPointer(rebasing: bytes[..<contentCount]), id: id)
  }

  /// The entries of a record of an older layout.
  private func collect(_ view: RecordView, _ id: UInt64) throws(StoreError) {
    for place in 0..<keys.count {
      try entries[place].append(view, id: id, keys, at: place, core: core)
    }
  }

  private func collectGone() throws(StoreError) {
    for place in 0..<keys.count {
      try entries[place].append(gone, keys, at: place, core: core)
    }
    gone.removeAll()
  }

  private func removeEntries() throws(StoreError) {
    try collectGone()
    for (place, index) in entity.indexes.enumerated() {
      entries[place].sort()
      try entries[place].sorted.remove(from: index, core: core)
      entries[place].removeAll()
    }
  }
}
