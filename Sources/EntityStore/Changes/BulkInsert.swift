internal import LMDB
internal import LodestoreFormat

/// Inserts many new records: records appended as they come, index entries collected, sorted and
/// written in key order.
///
/// Nothing remains of a batch that throws: records are taken out again before any index entry has
/// been written, since uniqueness is checked first.
final class BulkInsert {
  private let core: TransactionCore
  private let entity: StoredEntity
  private let firstID: UInt64
  // Of one thread; a check of each access would show in the time of a batch.
  @exclusivity(unchecked) private var nextID: UInt64
  /// Of each index whose entries are not written yet.
  @exclusivity(unchecked) private var entries: [IndexEntries]
  /// Makes the entries beside this thread, once the batch is a large one.
  @exclusivity(unchecked) private var collector: EntryCollector?
  @exclusivity(unchecked) private var hasTriedCollector = false
  /// For fewer records a thread does not pay.
  private static let aloneCount: UInt64 = 20_000
  private let keys: BatchKeys
  private let records: Cursor
  /// Records that are not written yet, so many at a time as stay in the cache.
  @exclusivity(unchecked) private var waiting = RecordRow(byteCount: RecordRow.usualByteCount)
  /// The id after the last record that is written.
  @exclusivity(unchecked) private var writtenID: UInt64

  init(
    into entity: StoredEntity, core: TransactionCore, expectedCount: Int
  ) throws(StoreError) {
    self.core = core
    self.entity = entity
    firstID = try core.nextID(of: entity)
    nextID = firstID
    writtenID = firstID
    entries = entity.indexes.map {
      IndexEntries(
        of: $0, of: entity, expectedCount: expectedCount, beside: entity.indexes.count, core: core)
    }
    keys = BatchKeys(of: entity)
    do {
      records = try Cursor(entity.records, in: core.transaction)
    } catch {
      throw StoreError(error)
    }
  }

  deinit { collector?.stop() }

  /// Adds one record.
  ///
  /// `content` has no checksum yet, and four free bytes behind it.
  func append(_ content: UnsafeMutableRawBufferPointer) throws(StoreError) -> UInt64 {
    if entity.validator != nil {
      let record = UnsafeRawBufferPointer(
        start: content.baseAddress, count: content.count + RecordLayout.checksumSize)
      try entity.validate(try entity.view(incoming: record))
    }
    if waiting.isFull(for: content.count) { try writeWaiting() }
    waiting.append(UnsafeRawBufferPointer(content), id: nextID)
    defer { nextID &+= 1 }
    return nextID
  }

  /// Adds the records of `row`, and empties it; returns the id of the first.
  func append(_ row: inout RecordRow) throws(StoreError) -> UInt64 {
    try writeWaiting()
    if entity.validator != nil {
      for place in 0..<row.count {
        try entity.validate(try entity.view(incoming: UnsafeRawBufferPointer(row[place])))
      }
    }
    let first = nextID
    row.giveIDs(from: first)
    nextID &+= UInt64(row.count)
    try write(&row)
    return first
  }

  private func writeWaiting() throws(StoreError) {
    if waiting.count > 0 { try write(&waiting) }
  }

  /// Writes the records of `row`, and empties it.
  private func write(_ row: inout RecordRow) throws(StoreError) {
    do {
      let isWritten = try row.withEnds { ends in
        Checksum.seal(row.base, ends: ends, firstID: writtenID)
        return try records.append(records: row.base, ends: ends, nextID: &writtenID)
      }
      if !isWritten {
        throw StoreError.damagedIndex(
          entity.name, "record \(writtenID) exists although it is new")
      }
    } catch {
      throw StoreError(wrapping: error)
    }
    if let collector { return try collector.collect(&row) }
    for place in 0..<keys.count {
      try entries[place].append(row, keys, at: place, core: core)
    }
    row.removeAll()
    if writtenID - firstID >= Self.aloneCount, !hasTriedCollector, keys.count > 0 {
      hasTriedCollector = true
      collector = EntryCollector(into: entries, keys, core: core)
    }
  }

  private func sort() throws(StoreError) {
    if let collector { return try collector.sort() }
    for entries in entries { try entries.sort() }
  }

  /// Writes the index entries; throws, and takes everything back, when a unique index is violated.
  func finish() throws(StoreError) {
    do throws(StoreError) {
      try writeWaiting()
      core.nextIDs[entity.number] = nextID
      try sort()
      for (place, index) in entity.indexes.enumerated() {
        try entries[place].sorted.checkUnique(index, of: entity, core: core)
      }
    } catch {
      try takeBack()
      throw error
    }
    collector?.stop()
    collector = nil
    // Each goes as soon as it is written, to make room for the pages of the next index.
    for index in entity.indexes {
      try entries.removeFirst().sorted.write(into: index, core: core)
    }
  }

  /// Removes the records of this batch; their ids are given again, as nobody has seen them.
  func takeBack() throws(StoreError) {
    do {
      for id in firstID..<writtenID { try core.transaction.delete(id, in: entity.records) }
      core.nextIDs[entity.number] = firstID
    } catch {
      throw StoreError(error)
    }
  }
}
