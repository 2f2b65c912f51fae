internal import LMDB
internal import LodestoreFormat

/// Inserts many new records: appends each record, and collects, sorts and writes the index entries.
///
/// Only ``EntityChanges/withBulkInsert(expectedCount:_:)`` begins and ends a bulk insert. Records
/// without index entries therefore cannot be committed.
///
/// The batch adds no entries to indexes under construction. The ids of new records are above all
/// earlier ids, so the construction visits these records later.
final class BulkInsert {
  private let core: WriteCore
  private let entity: StoredEntity
  private let changes: EntityChanges
  private let firstID: UInt64
  /// The write's changes before this batch.
  private let before: ChangeState
  // Exclusivity is not checked, because only one thread accesses the object and the checks would
  // slow down each record.
  @exclusivity(unchecked) private var nextID: UInt64
  /// The entries of each index, until they are written.
  @exclusivity(unchecked) private var indexes: [IndexChanges]
  /// Creates the entries on a second thread, when the batch is large.
  @exclusivity(unchecked) private var collector: EntryCollector?
  @exclusivity(unchecked) private var hasTriedCollector = false
  /// The number of records in a batch below which a second thread costs more time than it saves.
  private static let aloneCount: UInt64 = 20_000
  private let keys: BatchKeys
  private let cursor: WritingCursor
  /// The checked records that are not written to the file yet.
  ///
  /// The buffer is small, so it stays in the processor's cache.
  @exclusivity(unchecked) private var waiting = NewRecords()
  /// The id after the last written record.
  @exclusivity(unchecked) private var writtenID: UInt64

  fileprivate init(_ changes: EntityChanges, expectedCount: Int) throws(StoreError) {
    self.changes = changes
    let (core, entity) = (changes.core, changes.entity)
    self.core = core
    self.entity = entity
    before = core.changeState(of: entity)
    firstID = try core.newID(of: entity)
    nextID = firstID
    writtenID = firstID
    let keys = BatchKeys(of: entity)
    self.keys = keys
    let memoryLimit = core.store.options.batchMemoryInBytes / max(1, keys.count)
    indexes = (0..<keys.count).map { position in
      IndexChanges(
        keys, at: position, expectedCount: expectedCount, memoryLimit: memoryLimit, core: core)
    }
    cursor = try wrappingErrors { try WritingCursor(entity.records, in: core.writing) }
    // The construction of an index ends below the id of each new record. Only a damaged counter is
    // above, and the index would never get the entries of these records.
    for part in try changes.building() where part.next > firstID {
      throw .damagedIndex(
        entity.name, "the construction of an index has come to record \(part.next), which is new")
    }
  }

  deinit { collector?.stop() }

  /// Adds one record.
  func append(_ record: UnsealedRecord) throws(StoreError) -> UInt64 {
    let record = try changes.derived(record)
    if waiting.isFull(for: record) { try writeWaiting() }
    guard try waiting.append(record, id: nextID, changes) else { return nextID }
    defer { nextID &+= 1 }
    return nextID
  }

  /// Appends the records in the buffer `rows`, and empties the buffer; returns the id of the first
  /// record.
  func append(_ rows: inout RecordBuffer) throws(StoreError) -> UInt64 {
    if entity.derivations != nil { return try appendEach(&rows) }
    try writeWaiting()
    let first = nextID
    guard try waiting.take(&rows, from: first, changes) else { return first }
    nextID &+= UInt64(waiting.count)
    try writeWaiting()
    // The caller gets a buffer whose memory is in the processor's cache, and encodes the next
    // records there.
    waiting.move(to: &rows)
    return first
  }

  private func appendEach(_ rows: inout RecordBuffer) throws(StoreError) -> UInt64 {
    let first = nextID
    for position in 0..<rows.count { _ = try append(rows[position]) }
    rows.removeAll()
    return first
  }

  /// Writes the records of ``waiting``, and empties it.
  private func writeWaiting() throws(StoreError) {
    guard waiting.count > 0 else { return }
    try changes.records.append(waiting, nextID: &writtenID, at: cursor)
    if let collector { return try collector.collect(&waiting) }
    for index in indexes { try index.add(waiting.records) }
    waiting.removeAll()
    if writtenID - firstID >= Self.aloneCount, !hasTriedCollector, keys.count > 0 {
      hasTriedCollector = true
      collector = EntryCollector(into: indexes, keys)
    }
  }

  private func sort() throws(StoreError) {
    if let collector { return try collector.sort() }
    for index in indexes { try index.added.sort() }
  }

  /// Writes the last records and sorts the index entries; throws when a rule or a unique index
  /// refuses a record.
  fileprivate func complete() throws(StoreError) {
    try waiting.checkRules()
    try writeWaiting()
    core.takeIDs(below: nextID, of: entity)
    try sort()
    for index in indexes { try index.checkAddedUnique(firstNew: firstID) }
  }

  /// Notifies the sinks, and writes the index entries.
  fileprivate func writeEntries() throws(StoreError) {
    collector?.stop()
    collector = nil
    try core.breakingOnError {
      if changes.hasListeners { try reportInserted() }
      // Each index's entries are freed after they are written, to make room for the pages of the
      // next index.
      while !indexes.isEmpty { try indexes.removeFirst().writeAdded() }
    }
  }

  private func reportInserted() throws(StoreError) {
    let listeners = changes.listeners
    try listeners.reportInserted(firstID..<nextID)
    guard listeners.wantNewRecords else { return }
    try core.forEachStored(of: entity, from: firstID) { (id, bytes) throws(StoreError) in
      try listeners.reportStored(id, try entity.view(bytes, id: id))
    }
  }

  /// Removes the records of this batch, which `error` has ended.
  ///
  /// Their ids are assigned again to later records, because the refused batch returned none of
  /// them. The write then has the changes that it had before the batch.
  ///
  /// An error of the engine ends the transaction, so the records stay in it. If the removal fails,
  /// the transaction can only be aborted, because of `error`.
  fileprivate func undo(after error: any Error) {
    guard core.brokenBy == nil, !core.writing.hasFailed else { return }
    do {
      for id in firstID..<writtenID {
        guard let record = try core.record(id, of: entity) else { continue }
        try changes.records.takeBack(try changes.stored(record, id: id))
      }
    } catch _ {
      core.breakRun(by: StoreError(wrapping: error))
      return
    }
    core.giveBackIDs(from: firstID, of: entity)
    core.restore(before, of: entity)
  }
}

extension EntityChanges {
  /// Inserts the records that `body` appends, and writes their index entries.
  ///
  /// A call that throws stores nothing. Uniqueness is checked before any index entry is written,
  /// and when it fails, the records are removed again. Sinks are notified after that check. When
  /// the removal or a later step fails, the transaction can only be aborted.
  ///
  /// - Parameter expectedCount: the expected number of records.
  func withBulkInsert<R>(
    expectedCount: Int, _ body: (BulkInsert) throws -> R
  ) throws -> R {
    let insert = try BulkInsert(self, expectedCount: expectedCount)
    let result: R
    do {
      result = try body(insert)
      try insert.complete()
    } catch {
      insert.undo(after: error)
      throw error
    }
    try insert.writeEntries()
    return result
  }
}
