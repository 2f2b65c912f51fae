internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension WriteCore {
  /// Runs a batch; after it throws, the transaction can only be aborted.
  @inline(__always)
  func breakingOnError(_ body: () throws -> Void) throws(StoreError) {
    do {
      try body()
    } catch {
      let failure = StoreError(wrapping: error)
      breakRun(by: failure)
      throw failure
    }
  }
}

/// Many changes of records of one entity, whose index entries are written at the end in key order.
///
/// Within each kind of change, records must be changed in ascending order of their ids. This file
/// alone creates a batch and ends it.
final class ChangeBatch {
  let changes: EntityChanges
  private let records: RecordTree
  private let entity: StoredEntity
  private let core: WriteCore
  /// For each index whose entries may change, its added and removed entries.
  private let indexes: [IndexChanges]
  /// The attributes that the batch sets, for an assertion; `nil` for any attributes.
  private let attributes: SetAttributes?
  /// The changes of indexes under construction, each with the id of the first record that has no
  /// entry yet.
  private let building: [(entries: IndexChanges, next: UInt64)]
  /// Copies of removed records in the current layout whose index entries are not collected yet.
  ///
  /// The buffer is small enough to stay in the processor's cache.
  @exclusivity(unchecked) private var removed = RecordBuffer(byteCount: 1 << 16)
  /// The ids of new records that were not reported to the sinks yet, and will be reported together.
  @exclusivity(unchecked) private var unreported: Range<UInt64> = 0..<0
  @exclusivity(unchecked) private var isPatched = false
  // The last id of each kind of change. Only assertions read these three ids.
  @exclusivity(unchecked) private var lastInserted: UInt64?
  @exclusivity(unchecked) private var lastReplaced: UInt64?
  @exclusivity(unchecked) private var lastRemoved: UInt64?

  fileprivate init(
    _ changes: EntityChanges, setting attributes: SetAttributes?, expectedCount: Int,
    expectedRemovals: Int, memoryLimit: Int
  ) throws(StoreError) {
    self.changes = changes
    records = changes.records
    let core = changes.core
    self.core = core
    entity = changes.entity
    self.attributes = attributes
    let keys = BatchKeys(of: entity, in: attributes?.indexes ?? entity.indexes)
    let count = keys.count + entity.building.count
    let memoryLimit = memoryLimit == .max ? .max : memoryLimit / max(1, 2 * count)
    indexes = (0..<keys.count).map { position in
      IndexChanges(
        keys, at: position, expectedCount: expectedCount, expectedRemovals: expectedRemovals,
        memoryLimit: memoryLimit, core: core)
    }
    building = try changes.building().map { part in
      let keys = BatchKeys(of: changes.entity, in: [part.index])
      let entries = IndexChanges(
        keys, at: 0, expectedCount: 0, memoryLimit: memoryLimit, core: core)
      return (entries, part.next)
    }
  }

  /// Returns whether `id` is above the ids of earlier changes of this kind.
  private func ascends(_ id: UInt64, from last: inout UInt64?) -> Bool {
    defer { last = id }
    return last.map { id > $0 } ?? true
  }

  /// Calls `body` with each index under construction that must contain an entry for record `id`
  /// now.
  @inline(__always)
  private func forEachBuilding(
    _ id: UInt64, _ body: (IndexChanges) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard changes.isBuilding else { return }
    for part in building where id < part.next { try body(part.entries) }
  }

  /// Returns whether a record and its successor differ only in the attributes that the batch sets.
  ///
  /// The indexes of other attributes get no entries.
  private func isWithinSetAttributes(_ old: RecordView, _ new: RecordView, id: UInt64) -> Bool {
    guard let attributes, !attributes.isOfStage,
      let found = try? core.differences(old, new, id: id, of: entity)
    else { return true }
    return found.positions.allSatisfy {
      attributes.numbers.contains(entity.layout.attributes[$0].number)
    }
  }

  // MARK: Inserting

  /// Appends a new record, and collects its index entries.
  @inline(__always)
  func insert(_ record: NewRecord, at cursor: WritingCursor) throws(StoreError) {
    let (id, view) = (record.id, record.view)
    assert(ascends(id, from: &lastInserted), "new records come in the order of their ids")
    for index in indexes { try index.add(view, id: id) }
    try forEachBuilding(id) { (index) throws(StoreError) in try index.add(view, id: id) }
    if changes.hasListeners { try reportInserted(view, id: id) }
    try records.append(record, at: cursor)
  }

  private func reportInserted(_ view: RecordView, id: UInt64) throws(StoreError) {
    if changes.listeners.wantNewRecords { try changes.listeners.reportInsertedRecord(id, view) }
    if id != unreported.upperBound {
      try reportInserted()
      unreported = id..<id
    }
    unreported = unreported.lowerBound..<id &+ 1
  }

  /// Reports the unreported new records to the sinks.
  private func reportInserted() throws(StoreError) {
    if !unreported.isEmpty { try changes.listeners.reportInserted(unreported) }
    unreported = 0..<0
  }

  // MARK: Replacing

  /// Replaces the record at the cursor, which is `old`, with `record`.
  @inline(__always)
  func replace(_ old: StoredRecord, with record: SealedRecord, at cursor: WritingCursor) throws {
    let id = record.id
    assert(old.id == id, "a record keeps its id when it is replaced")
    assert(ascends(id, from: &lastReplaced), "records are replaced in the order of their ids")
    assert(
      isWithinSetAttributes(old.view, record.view, id: id),
      "a batch changes only the attributes that it sets")
    if !indexes.isEmpty || changes.hasListeners || changes.isBuilding {
      let new = record.view
      for index in indexes { try index.change(old.view, to: new, id: id) }
      try forEachBuilding(id) { (index) throws(StoreError) in
        try index.change(old.view, to: new, id: id)
      }
      if changes.hasListeners { try changes.listeners.reportUpdated(id, old.view, new, core) }
    }
    try records.replace(old, at: cursor, with: record)
  }

  /// Replaces the record at the cursor, which is `old`, with `record`.
  ///
  /// Returns false, and writes nothing, when the records have equal values.
  func change(_ old: StoredRecord, to record: DerivedRecord, at cursor: WritingCursor) throws
    -> Bool
  {
    guard let new = try changes.prepare(record, over: old) else { return false }
    try replace(old, with: new, at: cursor)
    return true
  }

  @inline(__always)
  fileprivate func patch(
    _ id: UInt64, at cursor: WritingCursor, by change: (MutableByteView) -> Void
  ) throws {
    if changes.hasListeners { try changes.listeners.reportUpdated(id) }
    isPatched = true
    try records.change(id, at: cursor, by: change)
  }

  // MARK: Removing

  /// Removes the record at the cursor, which is `old`.
  @inline(__always)
  func remove(_ old: StoredRecord, at cursor: WritingCursor) throws {
    let id = old.id
    assert(ascends(id, from: &lastRemoved), "records are removed in the order of their ids")
    if !indexes.isEmpty { try noteRemoval(old.view, id: id) }
    try forEachBuilding(id) { (index) throws(StoreError) in try index.remove(old.view, id: id) }
    if changes.hasListeners { try changes.listeners.reportRemoved(id, old.view) }
    try records.remove(old, at: cursor)
  }

  private func noteRemoval(_ old: RecordView, id: UInt64) throws(StoreError) {
    guard old.layout === entity.layout else {
      // Entries must be collected in the order of ids, so those of the buffered records come first.
      try noteRemoved()
      for index in indexes { try index.remove(old, id: id) }
      return
    }
    let content = old.content
    if removed.isFull(for: content.count) { try noteRemoved() }
    removed.append(content, id: id)
  }

  /// Collects the index entries of ``removed``, one index after the other.
  ///
  /// Each index is then set up once and not for each record.
  private func noteRemoved() throws(StoreError) {
    guard removed.count > 0 else { return }
    for index in indexes { try index.remove(removed) }
    removed.removeAll()
  }

  // MARK: Ending the batch

  /// Writes the index entries of all changes.
  fileprivate func finish(checksUnique: Bool) throws(StoreError) {
    try noteRemoved()
    try reportInserted()
    if isPatched { try records.notePatches() }
    for index in indexes { try index.write(checksUnique: checksUnique) }
    for part in building { try part.entries.write(checksUnique: true) }
  }

  /// Writes the removal of the removed records' entries to the indexes now, to free memory; further
  /// records may be removed afterwards.
  func writeRemovals() throws(StoreError) {
    try noteRemoved()
    for index in indexes { try index.writeRemovals() }
    for part in building { try part.entries.writeRemovals() }
  }
}

/// The part of a batch that sets some attributes in stored records.
///
/// The batch has only the indexes on these attributes, so it cannot insert or remove records.
struct UpdateBatch {
  private let batch: ChangeBatch

  fileprivate init(_ batch: ChangeBatch) { self.batch = batch }

  /// Replaces the record at the cursor, which is `old`, with `record`.
  @inline(__always)
  func replace(_ old: StoredRecord, with record: SealedRecord, at cursor: WritingCursor) throws {
    try batch.replace(old, with: record, at: cursor)
  }

  /// Changes bytes of the record at the cursor in its page, and updates its checksum.
  ///
  /// The record has at most ``RecordTree/longestInPage`` bytes.
  @inline(__always)
  func patch(
    _ id: UInt64, of _: UnreadAttributes, at cursor: WritingCursor,
    by change: (MutableByteView) -> Void
  ) throws {
    try batch.patch(id, at: cursor, by: change)
  }

  /// Replaces the record at the cursor, which is `old`, with `record`.
  ///
  /// Returns false, and writes nothing, when the records have equal values.
  func change(_ old: StoredRecord, to record: DerivedRecord, at cursor: WritingCursor) throws
    -> Bool
  {
    try batch.change(old, to: record, at: cursor)
  }

  /// Replaces the record at the cursor, which is `old`, unless its values are equal.
  func change(_ old: StoredRecord, to derived: consuming DerivedValues, at cursor: WritingCursor)
    throws
  {
    guard let new = try batch.changes.prepare(derived, over: old) else { return }
    try batch.replace(old, with: new, at: cursor)
  }
}

extension EntityChanges {
  /// Makes the changes that `body` makes with a batch, and writes the index entries of all of them.
  ///
  /// After an error the transaction can only be aborted: some changes are made, and some are not.
  ///
  /// - Parameters:
  ///   - expectedCount: the expected number of new entries in each index.
  ///   - expectedRemovals: the expected number of removed entries in each index.
  ///   - memoryLimit: the memory for new and removed entries, in bytes. Further entries go to a
  ///     scratch file.
  ///   - checksUnique: whether the call throws ``StoreError/Code/uniqueViolation`` when another
  ///     record has one of the unique keys. Otherwise the caller guarantees that no record has one.
  func withChangeBatch(
    expectedCount: Int = 0, expectedRemovals: Int = 0, memoryLimit: Int = .max,
    checksUnique: Bool = true, _ body: (ChangeBatch) throws -> Void
  ) throws(StoreError) {
    try withBatch(
      setting: nil, expectedCount: expectedCount, expectedRemovals: expectedRemovals,
      memoryLimit: memoryLimit, checksUnique: checksUnique, body)
  }

  /// Sets attributes of stored records as `body` does with a batch, and writes the index entries.
  ///
  /// After an error the transaction can only be aborted: some records are changed, and some are
  /// not.
  ///
  /// - Parameter memoryLimit: the memory for index entries, in bytes. Further entries go to a
  ///   scratch file.
  func withUpdateBatch(
    setting attributes: SetAttributes, memoryLimit: Int = .max,
    _ body: (UpdateBatch) throws -> Void
  ) throws(StoreError) {
    try withBatch(
      setting: attributes, expectedCount: 0, expectedRemovals: 0, memoryLimit: memoryLimit,
      checksUnique: true
    ) { try body(UpdateBatch($0)) }
  }

  private func withBatch(
    setting attributes: SetAttributes?, expectedCount: Int, expectedRemovals: Int,
    memoryLimit: Int, checksUnique: Bool, _ body: (ChangeBatch) throws -> Void
  ) throws(StoreError) {
    let batch = try ChangeBatch(
      self, setting: attributes, expectedCount: expectedCount,
      expectedRemovals: expectedRemovals, memoryLimit: memoryLimit)
    try core.breakingOnError {
      try body(batch)
      try batch.finish(checksUnique: checksUnique)
    }
  }
}
