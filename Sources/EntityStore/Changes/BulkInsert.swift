internal import LMDB
internal import LodestoreFormat

/// Inserts many new records: records appended as they come, index entries collected, sorted and
/// written in key order.
///
/// Nothing remains of a batch that throws: records are taken out again before any index entry has
/// been written, since uniqueness is checked first. Sinks are told when it is sure to stand.
final class BulkInsert {
  private let core: TransactionCore
  private let entity: StoredEntity
  private let changes: EntityChanges
  private let firstID: UInt64
  // Of one thread; a check of each access would show in the time of a batch.
  @exclusivity(unchecked) private var nextID: UInt64
  /// Of each index whose entries are not written yet.
  @exclusivity(unchecked) private var indexes: [IndexChanges]
  /// Makes the entries beside this thread, once the batch is a large one.
  @exclusivity(unchecked) private var collector: EntryCollector?
  @exclusivity(unchecked) private var hasTriedCollector = false
  /// For fewer records a thread does not pay.
  private static let aloneCount: UInt64 = 20_000
  private let keys: BatchKeys
  private let cursor: Cursor
  /// Records that are not written yet, so many at a time as stay in the cache.
  @exclusivity(unchecked) private var waiting = RecordBuffer(byteCount: RecordBuffer.usualByteCount)
  /// The id after the last record that is written.
  @exclusivity(unchecked) private var writtenID: UInt64

  init(
    into entity: StoredEntity, core: TransactionCore, expectedCount: Int
  ) throws(StoreError) {
    self.core = core
    self.entity = entity
    changes = core.changes(of: entity)
    firstID = try core.nextID(of: entity)
    nextID = firstID
    writtenID = firstID
    let keys = BatchKeys(of: entity)
    self.keys = keys
    let memoryLimit = core.store.options.batchMemoryInBytes / max(1, keys.count)
    indexes = (0..<keys.count).map { place in
      IndexChanges(
        keys, at: place, expectedCount: expectedCount, memoryLimit: memoryLimit, core: core)
    }
    do {
      cursor = try Cursor(entity.records, in: core.transaction)
    } catch {
      throw StoreError(error)
    }
  }

  deinit { collector?.stop() }

  /// Adds one record.
  ///
  /// `content` has no checksum yet, and four free bytes behind it.
  func append(_ content: UnsafeMutableRawBufferPointer) throws(StoreError) -> UInt64 {
    if changes.hasConstraints {
      let record = UnsafeRawBufferPointer(
        start: content.baseAddress, count: content.count + RecordLayout.checksumSize)
      try changes.check(try entity.view(incoming: record))
    }
    if waiting.isFull(for: content.count) { try writeWaiting() }
    waiting.append(UnsafeRawBufferPointer(content), id: nextID)
    defer { nextID &+= 1 }
    return nextID
  }

  /// Adds the records of `row`, and empties it; returns the id of the first.
  func append(_ row: inout RecordBuffer) throws(StoreError) -> UInt64 {
    try writeWaiting()
    if changes.hasConstraints {
      for place in 0..<row.count {
        try changes.check(try entity.view(incoming: UnsafeRawBufferPointer(row[place])))
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
  private func write(_ row: inout RecordBuffer) throws(StoreError) {
    try changes.append(row, nextID: &writtenID, at: cursor)
    if let collector { return try collector.collect(&row) }
    for index in indexes { try index.add(row) }
    row.removeAll()
    if writtenID - firstID >= Self.aloneCount, !hasTriedCollector, keys.count > 0 {
      hasTriedCollector = true
      collector = EntryCollector(into: indexes, keys)
    }
  }

  private func sort() throws(StoreError) {
    if let collector { return try collector.sort() }
    for index in indexes { try index.added.sort() }
  }

  /// Writes the index entries; throws, and takes everything back, when a unique index is violated.
  func finish() throws(StoreError) {
    do throws(StoreError) {
      try writeWaiting()
      core.nextIDs[entity.number] = nextID
      try sort()
      for index in indexes { try index.checkAddedUnique() }
    } catch {
      try takeBack()
      throw error
    }
    collector?.stop()
    collector = nil
    // Each goes as soon as it is written, to make room for the pages of the next index.
    while !indexes.isEmpty { try indexes.removeFirst().writeAdded() }
    if changes.isHeard { try tellInserted() }
  }

  private func tellInserted() throws(StoreError) {
    let listeners = changes.listeners
    try listeners.tellInserted(firstID..<nextID)
    guard listeners.wantNewRecords else { return }
    do {
      let cursor = try Cursor(entity.records, in: core.transaction)
      var found = try cursor.seek(atOrAfter: firstID)
      while found {
        let id = cursor.integerKey
        try listeners.tellInsertedRecord(id, try entity.view(cursor.value, id: id))
        found = try cursor.next()
      }
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// Removes the records of this batch; their ids are given again, as nobody has seen them.
  func takeBack() throws(StoreError) {
    for id in firstID..<writtenID { try changes.remove(id) }
    core.nextIDs[entity.number] = firstID
  }
}
