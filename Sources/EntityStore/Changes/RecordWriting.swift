internal import LMDB
internal import LodestoreFormat

/// The record tree of one entity, for writing.
///
/// No other type changes a pair in a record tree. Only ``EntityChanges``, ``ChangeBatch`` and
/// ``BulkInsert`` write through it, after checking and reporting the change; `tools/lint-writes`
/// verifies this.
///
/// A class, because each call would retain the references of a struct.
final class RecordTree {
  /// Outlives the ``EntityChanges`` that owns this object.
  private unowned(unsafe) let core: WriteCore
  private let entity: StoredEntity
  /// The digest and the size of the records, updated with each change.
  private let sum: ContentLedger.Sum
  /// The maximum length of a record that is changed in its page.
  private let longestInPage = PageLayout.longestSharedValue

  init(of entity: StoredEntity, _ core: WriteCore) {
    self.core = core
    self.entity = entity
    sum = ContentLedger.of(core).sum(of: .records(entity: entity.number))
    if entity.description.keepsSize { sum.keepsSize = true }
  }

  /// Writes a record; `old` is nil for a new record, and `new` for a removed one.
  @inline(__always)
  func write(_ new: SealedRecord?, inPlaceOf old: StoredRecord?) throws(StoreError) {
    noteWritten()
    do {
      if let new {
        if let old {
          sum.replace(new.id, old.written, by: new.bytes)
        } else {
          sum.add(new.id, new.bytes)
        }
        try core.transaction.put(new.id, new.bytes, in: entity.records)
      } else if let old {
        sum.remove(old.id, old.written)
        try core.transaction.delete(old.id, in: entity.records)
      }
    } catch {
      throw StoreError(error)
    }
  }

  func remove(_ old: StoredRecord, at cursor: Cursor) throws(LMDBError) {
    noteWritten()
    sum.remove(old.id, old.written)
    try cursor.delete()
  }

  func empty() throws(LMDBError) {
    noteWritten()
    sum.clear()
    try core.transaction.empty(entity.records)
  }

  /// - Parameter old: the record at the cursor.
  @inline(__always)
  func replace(
    _ old: StoredRecord, at cursor: Cursor, with record: SealedRecord
  ) throws(LMDBError) {
    noteWritten()
    sum.replace(record.id, old.written, by: record.bytes)
    try cursor.replaceCurrent(with: record.bytes)
  }

  /// Returns whether the record at the cursor is short enough to be changed in its page.
  @inline(__always)
  func canChange(at cursor: Cursor) -> Bool {
    cursor.value.count <= longestInPage
  }

  /// Calls `change` with the bytes of the record at the cursor, which must be short enough.
  ///
  /// The bytes are those of the page. With the plain engine they are a copy, which is then stored.
  @inline(__always)
  func change(
    _ id: UInt64, at cursor: Cursor, by change: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(LMDBError) {
    noteWritten()
    if let page = try cursor.changeableCurrent() { return digested(id, page, change) }
    var copy = Array(cursor.value)
    copy.withUnsafeMutableBytes { digested(id, $0, change) }
    try copy.withBytes { (bytes) throws(LMDBError) in try cursor.replaceCurrent(with: bytes) }
  }

  @inline(__always)
  private func digested(
    _ id: UInt64, _ record: UnsafeMutableRawBufferPointer,
    _ change: (UnsafeMutableRawBufferPointer) -> Void
  ) {
    let old = UnsafeRawBufferPointer(record).recordChecksum
    change(record)
    let new = UnsafeRawBufferPointer(record).recordChecksum
    sum.change.replace(record: id, checksum: old, by: new)
  }

  /// Appends the records of `row` under the ids from `nextID` on, and seals them.
  func append(
    _ row: borrowing RecordBuffer, nextID: inout UInt64, at cursor: Cursor
  ) throws(StoreError) {
    noteWritten()
    do {
      let isWritten = try row.withEnds { ends in
        sum.change += Checksum.seal(row.base, ends: ends, firstID: nextID)
        sum.sizeChange &+= Int(ends.last ?? 0)
        return try cursor.append(records: row.base, ends: ends, nextID: &nextID)
      }
      if !isWritten { throw alreadyThere(nextID) }
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// Appends a copy of `record`, and seals it in the page.
  @inline(__always)
  func append(
    _ record: UnsafeRawBufferPointer, id: UInt64, at cursor: Cursor
  ) throws(StoreError) {
    noteWritten()
    do {
      guard let page = try cursor.appendReserving(id, byteCount: record.count) else {
        throw alreadyThere(id)
      }
      page.copyMemory(from: record)
      Checksum.seal(page, id: id)
      sum.add(id, UnsafeRawBufferPointer(page))
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  private func alreadyThere(_ id: UInt64) -> StoreError {
    .damagedIndex(entity.name, "record \(id) exists although it is new")
  }

  /// Counts a change of records, and remembers their entity.
  ///
  /// Called for each record. Raw numbers are compared, because `==` of another module is a call.
  /// The rare path is a method of this type, because a method of `core` would retain it.
  @inline(__always)
  private func noteWritten() {
    core.changeCount &+= 1
    if core.writtenEntity.rawValue != entity.number.rawValue { noteFirstWritten() }
  }

  @inline(never)
  private func noteFirstWritten() {
    core.writtenEntities.insert(entity.number)
    core.writtenEntity = entity.number
  }
}

extension WriteCore {
  /// Runs `body`, whose changes of `entity` follow from other changes and are not the program's
  /// own.
  func asConsequence(
    in entity: StoredEntity, _ body: () throws(StoreError) -> Void
  ) throws(StoreError) {
    let isWritten = writtenEntities.contains(entity.number)
    defer {
      if !isWritten {
        writtenEntities.remove(entity.number)
        writtenEntity = .none
      }
    }
    try body()
  }
}

extension ContentLedger {
  /// The ledger of the transaction in which `core` writes.
  static func of(_ core: WriteCore) -> ContentLedger {
    of(core.transaction, core.store.trees)
  }
}
