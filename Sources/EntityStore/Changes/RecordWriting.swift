internal import LMDB
internal import LodestoreFormat

// All writes of records: no other file puts a pair into a record tree or takes one out, which
// `tools/lint` checks. Whoever calls these has checked and told the change.

extension EntityChanges {
  func put(_ record: UnsafeRawBufferPointer, id: UInt64) throws(StoreError) {
    core.changeCount &+= 1
    do {
      try core.transaction.put(id, record, in: entity.records)
    } catch {
      throw StoreError(error)
    }
  }

  func remove(_ id: UInt64) throws(StoreError) {
    core.changeCount &+= 1
    do {
      try core.transaction.delete(id, in: entity.records)
    } catch {
      throw StoreError(error)
    }
  }

  func remove(at cursor: Cursor) throws(LMDBError) {
    core.changeCount &+= 1
    try cursor.delete()
  }

  func empty() throws(LMDBError) {
    core.changeCount &+= 1
    try core.transaction.empty(entity.records)
  }

  @inline(__always)
  func replace(at cursor: Cursor, with record: UnsafeRawBufferPointer) throws(LMDBError) {
    core.changeCount &+= 1
    try cursor.replaceCurrent(with: record)
  }

  /// Has `change` write into the bytes of the record at the cursor, where they are, or with the plain
  /// engine into a copy, which is stored instead; false for a long record.
  @inline(__always)
  func change(
    at cursor: Cursor, by change: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(LMDBError) -> Bool {
    core.changeCount &+= 1
    if let page = try cursor.changeableCurrent() {
      change(page)
      return true
    }
    guard cursor.value.count <= PageLayout.longestSharedValue else { return false }
    var copy = Array(cursor.value)
    copy.withUnsafeMutableBytes(change)
    try copy.withBytes { (bytes) throws(LMDBError) in try cursor.replaceCurrent(with: bytes) }
    return true
  }

  /// Appends the records of `row`, which are sealed here, under the ids from `nextID` on.
  func append(
    _ row: borrowing RecordBuffer, nextID: inout UInt64, at cursor: Cursor
  ) throws(StoreError) {
    core.changeCount &+= 1
    do {
      let isWritten = try row.withEnds { ends in
        Checksum.seal(row.base, ends: ends, firstID: nextID)
        return try cursor.append(records: row.base, ends: ends, nextID: &nextID)
      }
      if !isWritten { throw alreadyThere(nextID) }
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// Appends a copy of `record`, which is sealed in the page.
  @inline(__always)
  func append(
    _ record: UnsafeRawBufferPointer, id: UInt64, at cursor: Cursor
  ) throws(StoreError) {
    core.changeCount &+= 1
    do {
      guard let page = try cursor.appendReserving(id, byteCount: record.count) else {
        throw alreadyThere(id)
      }
      page.copyMemory(from: record)
      Checksum.seal(page, id: id)
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  private func alreadyThere(_ id: UInt64) -> StoreError {
    .damagedIndex(entity.name, "record \(id) exists although it is new")
  }
}
