internal import LMDB
internal import LodestoreFormat

// All writes of records: no other file puts a pair into a record tree or takes one out, which
// `tools/lint` checks. Callers have checked and reported the change.

extension EntityChanges {
  /// - Parameter old: the record that is replaced; `nil` for a new one.
  func put(_ record: SealedRecord, replacing old: WrittenRecord? = nil) throws(StoreError) {
    noteWritten()
    if let old {
      sum.replace(record.id, old, by: record.bytes)
    } else {
      sum.add(record.id, record.bytes)
    }
    do {
      try core.transaction.put(record.id, record.bytes, in: entity.records)
    } catch {
      throw StoreError(error)
    }
  }

  func remove(_ id: UInt64, _ old: WrittenRecord) throws(StoreError) {
    noteWritten()
    sum.remove(id, old)
    do {
      try core.transaction.delete(id, in: entity.records)
    } catch {
      throw StoreError(error)
    }
  }

  func remove(_ id: UInt64, _ old: WrittenRecord, at cursor: Cursor) throws(LMDBError) {
    noteWritten()
    sum.remove(id, old)
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
    _ old: WrittenRecord, at cursor: Cursor, with record: SealedRecord
  ) throws(LMDBError) {
    noteWritten()
    sum.replace(record.id, old, by: record.bytes)
    try cursor.replaceCurrent(with: record.bytes)
  }

  /// Calls `change` with the bytes of the record at the cursor; returns false for a long record.
  ///
  /// The bytes are those of the page. With the plain engine they are a copy, which is stored
  /// instead.
  @inline(__always)
  func change(
    _ id: UInt64, at cursor: Cursor, by change: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(LMDBError) -> Bool {
    noteWritten()
    if let page = try cursor.changeableCurrent() {
      digested(id, page, change)
      return true
    }
    guard cursor.value.count <= PageLayout.longestSharedValue else { return false }
    var copy = Array(cursor.value)
    copy.withUnsafeMutableBytes { digested(id, $0, change) }
    try copy.withBytes { (bytes) throws(LMDBError) in try cursor.replaceCurrent(with: bytes) }
    return true
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

  /// Appends the records of `row`, which are sealed here, under the ids from `nextID` on.
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

  /// Appends a copy of `record`, which is sealed in the page.
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
}

extension EntityChanges {
  /// Counts a change of records, and notes their entity.
  ///
  /// Each record passes here. Numbers are compared, because `==` of another module is a call. The rare
  /// part is a method of this object, because a method of `core` would retain it.
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
  /// Runs `body`, whose changes of `entity` follow from others and are not the program's own.
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
  /// The ledger of the transaction that `core` writes in.
  static func of(_ core: WriteCore) -> ContentLedger {
    of(core.transaction, core.store.trees)
  }
}
