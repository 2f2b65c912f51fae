internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The record tree of one entity, for writing.
///
/// No other type changes a pair in a record tree. Only ``EntityChanges``, ``ChangeBatch`` and
/// ``BulkInsert`` write through it, after checking and reporting the change; `tools/lint-writes`
/// verifies this.
///
/// This type also does everything that must accompany each write of a record. Before a record is
/// replaced or removed, the mark for imports is cleared. Before a removal, the counter of ids is
/// raised. After a write, the digest and the size are changed.
///
/// The type is a class, because each call would retain the references of a struct.
final class RecordTree {
  /// The transaction, which outlives the ``EntityChanges`` that owns this object.
  private unowned(unsafe) let core: WriteCore
  private let entity: StoredEntity
  /// The digest and the size of the records, updated with each change.
  private let sum: ContentLedger.Sum
  /// The value to which the file's counter of ids was raised in this transaction; all assigned ids
  /// are below it.
  @exclusivity(unchecked) private var raised: UInt64 = 0

  init(of entity: StoredEntity, _ core: WriteCore) {
    self.core = core
    self.entity = entity
    sum = ContentLedger.of(core).sum(of: .records(entity: entity.number))
    if entity.description.keepsSize { sum.keepsSize = true }
  }

  /// Writes a record; `old` is nil for a new record, and `new` for a removed one.
  @inline(__always)
  func write(_ new: SealedRecord?, inPlaceOf old: StoredRecord?) throws(StoreError) {
    if let old { try noteChange(isRemoval: new == nil, of: old.id) }
    guard let new else {
      if let old { try delete(old) }
      return
    }
    assert(!new.isStale, "a record is written before the next one is created")
    assert(old.map { $0.id == new.id } ?? true, "a record keeps its id when it is replaced")
    noteWritten()
    do {
      try core.writing.put(new.id, new.bytes, in: entity.records)
    } catch {
      throw StoreError(error)
    }
    if let old {
      sum.replace(new.id, old.written, by: new.bytes)
    } else {
      sum.add(new.id, new.bytes)
    }
  }

  /// Removes a record that a refused batch has inserted; the next new record gets its id, because
  /// nobody has seen it.
  func takeBack(_ new: StoredRecord) throws(StoreError) { try delete(new) }

  private func delete(_ old: StoredRecord) throws(StoreError) {
    noteWritten()
    do {
      try core.writing.delete(old.id, in: entity.records)
    } catch {
      throw StoreError(error)
    }
    sum.remove(old.id, old.written)
  }

  /// - Parameter old: the record at the cursor.
  func remove(_ old: StoredRecord, at cursor: WritingCursor) throws {
    assert(cursor.reads.integerKey == old.id, "the cursor is at the removed record")
    try noteChange(isRemoval: true, of: old.id)
    noteWritten()
    try cursor.delete()
    sum.remove(old.id, old.written)
  }

  func empty() throws {
    try noteChange(isRemoval: true, of: .max)
    noteWritten()
    try core.writing.empty(entity.records)
    sum.clear()
  }

  /// - Parameter old: the record at the cursor.
  @inline(__always)
  func replace(_ old: StoredRecord, at cursor: WritingCursor, with record: SealedRecord) throws {
    assert(!record.isStale, "a record is written before the next one is created")
    assert(record.id == old.id, "a record keeps its id when it is replaced")
    assert(cursor.reads.integerKey == old.id, "the cursor is at the replaced record")
    try noteChange(isRemoval: false, of: record.id)
    noteWritten()
    try cursor.replaceCurrent(with: record.bytes)
    sum.replace(record.id, old.written, by: record.bytes)
  }

  /// The maximum length, in bytes, of a record that ``change(_:at:by:)`` takes.
  static var longestInPage: Int { PageLayout.longestSharedValue }

  /// Calls `change` with the bytes of the record at the cursor, at most ``longestInPage`` of them.
  ///
  /// The caller calls ``notePatches()`` after its last change. That call clears the mark for
  /// imports once, and not for each record.
  ///
  /// The bytes are those of the page. With ``StoreOptions/usesPlainEngine`` they are a copy, which
  /// is stored afterwards.
  @inline(__always)
  func change(
    _ id: UInt64, at cursor: WritingCursor, by change: (MutableByteView) -> Void
  ) throws(LMDBError) {
    assert(cursor.reads.integerKey == id, "the cursor is at the changed record")
    noteWritten()
    if let page = try cursor.changeableCurrent() { return digested(id, page, change) }
    var copy = Array(cursor.reads.value)
    copy._withMutableBytes { digested(id, $0, change) }
    try copy._withBytes { (bytes) throws(LMDBError) in try cursor.replaceCurrent(with: bytes) }
  }

  @inline(__always)
  private func digested(
    _ id: UInt64, _ record: MutableByteView,
    _ change: (MutableByteView) -> Void
  ) {
    let old = ByteView(record).recordChecksum
    change(record)
    let new = ByteView(record).recordChecksum
    sum.change.replace(record: id, checksum: old, by: new)
  }

  func notePatches() throws(StoreError) { try noteChange(isRemoval: false, of: 0) }

  /// Appends the records in the buffer `rows` under the ids from `nextID` on, and seals them.
  ///
  /// After an error the transaction can only be aborted: some of the records are stored, and the
  /// digest contains all of them.
  func append(
    _ rows: borrowing NewRecords, nextID: inout UInt64, at cursor: WritingCursor
  ) throws(StoreError) {
    noteWritten()
    do {
      let base = rows.records.base
      let isWritten = try rows.records.withEnds { ends in
        sum.change += Checksum.seal(base, ends: ends, firstID: nextID)
        sum.sizeChange &+= Int(ends.last ?? 0)
        return try cursor.append(records: base, ends: ends, nextID: &nextID)
      }
      if !isWritten { throw alreadyThere(nextID) }
    } catch {
      let failure = StoreError(wrapping: error)
      core.breakRun(by: failure)
      throw failure
    }
  }

  /// Appends a copy of `record`, and seals it in the page; the digest contains the record only if
  /// it was stored.
  @inline(__always)
  func append(_ record: NewRecord, at cursor: WritingCursor) throws(StoreError) {
    let (id, bytes) = (record.id, record.view.bytes)
    noteWritten()
    do {
      guard let page = try cursor.appendReserving(id, byteCount: bytes.count) else {
        throw alreadyThere(id)
      }
      page.copyMemory(from: bytes)
      Checksum.seal(page, id: id)
      sum.add(id, ByteView(page))
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  private func alreadyThere(_ id: UInt64) -> StoreError {
    .damagedIndex(entity.name, "record \(id) exists although it is new")
  }

  /// Called before a stored record is replaced or removed.
  ///
  /// The id of a removed record is never assigned again, so the counter in the file must be above
  /// it.
  @inline(__always)
  private func noteChange(isRemoval: Bool, of id: UInt64) throws(StoreError) {
    try core.noteChange(of: entity)
    if isRemoval, id >= raised { raised = try core.raiseCounter(of: entity) }
  }

  /// Counts a change of records, and remembers their entity.
  ///
  /// Called for each record. Raw numbers are compared, because `==` of another module is a call.
  /// The rare path is a method of this type, because a method of `core` would retain it.
  @inline(__always)
  private func noteWritten() {
    core.countChange()
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

/// The changes of a write at the beginning of a batch; see ``WriteCore/restore(_:of:)``.
struct ChangeState {
  fileprivate let count: Int
  /// Whether the write itself had changed records of the entity.
  fileprivate let isWritten: Bool
}

extension WriteCore {
  func changeState(of entity: StoredEntity) -> ChangeState {
    ChangeState(count: changeCount, isWritten: writtenEntities.contains(entity.number))
  }

  /// Forgets the changes since `state`, all of which were changes of `entity` and are undone.
  func restore(_ state: ChangeState, of entity: StoredEntity) {
    forgetChanges(since: state.count)
    guard !state.isWritten else { return }
    writtenEntities.remove(entity.number)
    writtenEntity = .none
  }
}

extension ContentLedger {
  /// The ledger of the transaction in which `core` writes.
  static func of(_ core: WriteCore) -> ContentLedger {
    of(core.writing, core.store.trees)
  }
}
