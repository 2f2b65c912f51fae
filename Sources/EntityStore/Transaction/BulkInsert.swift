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

  init(
    into entity: StoredEntity, core: TransactionCore, expectedCount: Int
  ) throws(StoreError) {
    self.core = core
    self.entity = entity
    firstID = try core.nextID(of: entity)
    nextID = firstID
    arenas = EntryArenas(count: entity.indexes.count, expectedCount: expectedCount)
    keys = BatchKeys(of: entity)
    do {
      records = try Cursor(entity.records, in: core.transaction)
    } catch {
      throw StoreError(error)
    }
  }

  /// Appends one record.
  ///
  /// `content` has no checksum yet, and four free bytes behind it.
  func append(_ content: UnsafeMutableRawBufferPointer) throws(StoreError) -> UInt64 {
    let id = nextID
    let record = core.seal(content, id: id)
    let view = try entity.view(incoming: record)
    try entity.validate(view)
    for place in 0..<keys.count {
      try keys.encode(place, of: view, id: id, core)
      arenas[place].append(key: core.key.bytes, recordID: id)
    }
    do {
      guard let page = try records.appendReserving(id, byteCount: record.count) else {
        throw StoreError.damagedIndex(entity.name, "record \(id) exists although it is new")
      }
      page.copyMemory(from: record)
    } catch {
      throw StoreError(wrapping: error)
    }
    nextID = id &+ 1
    return id
  }

  /// Writes the index entries; throws, and takes everything back, when a unique index is violated.
  func finish() throws(StoreError) {
    core.nextIDs[entity.number] = nextID
    do throws(StoreError) {
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
      for id in firstID..<nextID { try core.transaction.delete(id, in: entity.records) }
      core.nextIDs[entity.number] = firstID
    } catch {
      throw StoreError(error)
    }
  }
}
