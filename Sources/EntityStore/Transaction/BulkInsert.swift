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
  private let arenas: EntryArenas
  private let keys: BatchKeys
  private let records: Cursor
  /// Records that are not written yet, so many at a time as stay in the cache.
  @exclusivity(unchecked) private var waiting = RecordRow(byteCount: 1 << 17)
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
    arenas = EntryArenas(count: entity.indexes.count, expectedCount: expectedCount)
    keys = BatchKeys(of: entity)
    do {
      records = try Cursor(entity.records, in: core.transaction)
    } catch {
      throw StoreError(error)
    }
  }

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
    try write(row)
    row.removeAll()
    return first
  }

  private func writeWaiting() throws(StoreError) {
    try write(waiting)
    waiting.removeAll()
  }

  private func write(_ row: borrowing RecordRow) throws(StoreError) {
    do {
      for place in 0..<row.count {
        let record = row[place]
        Checksum.seal(record, id: writtenID)
        guard let page = try records.appendReserving(writtenID, byteCount: record.count) else {
          throw StoreError.damagedIndex(
            entity.name, "record \(writtenID) exists although it is new")
        }
        page.copyMemory(from: UnsafeRawBufferPointer(record))
        writtenID &+= 1
      }
    } catch {
      throw StoreError(wrapping: error)
    }
    for place in 0..<keys.count {
      try keys.collect(place, of: row, into: arenas[place], core)
    }
  }

  /// Writes the index entries; throws, and takes everything back, when a unique index is violated.
  func finish() throws(StoreError) {
    do throws(StoreError) {
      try writeWaiting()
      core.nextIDs[entity.number] = nextID
      for (place, index) in entity.indexes.enumerated() {
        arenas[place].sort()
        if index.isUnique { try checkUnique(place, index) }
      }
    } catch {
      try takeBack()
      throw error
    }
    for (place, index) in entity.indexes.enumerated() {
      try arenas[place].write(into: index, core: core)
    }
  }

  private func checkUnique(_ place: Int, _ index: StoredIndex) throws(StoreError) {
    let detail = { (key: UnsafeRawBufferPointer) in KeyText.text(key) }
    if let repeated = arenas[place].firstRepeated() {
      throw .repeatedInBatch(
        entity: entity.name, index: index.name, detail: arenas[place].withKey(repeated, detail))
    }
    if let (entry, holder) = try arenas[place].firstHeld(in: index, core: core) {
      throw .uniqueViolation(
        entity: entity.name, index: index.name, holder: holder,
        detail: arenas[place].withKey(entry, detail))
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
