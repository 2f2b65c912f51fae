internal import LMDB
internal import LodestoreFormat

/// Many changes of records of one entity: index entries are collected and written in the order of
/// their keys at the end.
///
/// Records are changed in ascending order of their ids within each kind of change. A caller that gets
/// an error after the first change can only abort the transaction; see ``TransactionCore/brokenBy``.
final class ChangeBatch {
  let changes: EntityChanges
  let keys: BatchKeys
  private let entity: StoredEntity
  private let core: TransactionCore
  /// Of each index whose entries may change.
  private let indexes: [IndexChanges]
  /// Copies of removed records of the current layout whose index entries are not noted yet; few enough to
  /// stay in the processor's cache.
  @exclusivity(unchecked) private var gone = RecordBuffer(byteCount: 1 << 16)
  // Looked at by assertions alone.
  @exclusivity(unchecked) private var lastInserted: UInt64 = 0
  @exclusivity(unchecked) private var lastReplaced: UInt64 = 0
  @exclusivity(unchecked) private var lastRemoved: UInt64 = 0

  /// - Parameters:
  ///   - concerned: the indexes whose keys may change; all where it is left out.
  ///   - expectedCount: of new entries in each.
  ///   - expectedRemovals: of old entries in each.
  ///   - memoryLimit: of the new entries of each index, and of the old ones, in bytes; what is more is
  ///     kept in a scratch file.
  init(
    _ changes: EntityChanges, concerned: [StoredIndex]? = nil, expectedCount: Int = 0,
    expectedRemovals: Int = 0, memoryLimit: Int = .max, core: TransactionCore
  ) {
    self.changes = changes
    self.core = core
    entity = changes.entity
    let keys = BatchKeys(of: entity, in: concerned ?? entity.indexes)
    self.keys = keys
    indexes = (0..<keys.count).map { place in
      IndexChanges(
        keys, at: place, expectedCount: expectedCount, expectedRemovals: expectedRemovals,
        memoryLimit: memoryLimit, core: core)
    }
  }

  /// Whether `id` is above those changed in this way before.
  private func ascends(_ id: UInt64, from last: inout UInt64) -> Bool {
    defer { last = id }
    return id > last
  }

  // MARK: Inserting

  /// Stores a new record, which is checked before.
  @inline(__always)
  func insert(
    _ record: UnsafeRawBufferPointer, _ view: RecordView, id: UInt64, at cursor: Cursor
  ) throws(StoreError) {
    assert(ascends(id, from: &lastInserted), "new records come in the order of their ids")
    for index in indexes { try index.add(view, id: id) }
    try changes.append(record, id: id, at: cursor)
  }

  // MARK: Replacing

  /// Gives the record at the cursor, whose view is `old`, the sealed bytes of `record`.
  @inline(__always)
  func replace(
    _ old: RecordView, id: UInt64, with record: UnsafeRawBufferPointer, at cursor: Cursor
  ) throws {
    assert(ascends(id, from: &lastReplaced), "records are replaced in the order of their ids")
    if !indexes.isEmpty || changes.isHeard {
      let new = try entity.view(record, id: id)
      for index in indexes { try index.change(old, to: new, id: id) }
      if changes.isHeard { try changes.listeners.tellUpdated(id, old, new, core) }
    }
    try core.noteChange(of: entity)
    try changes.replace(at: cursor, with: record)
  }

  // MARK: Removing

  /// Removes the record at the cursor, whose view is `old`.
  @inline(__always)
  func remove(_ old: RecordView, id: UInt64, at cursor: Cursor) throws {
    assert(ascends(id, from: &lastRemoved), "records are removed in the order of their ids")
    if changes.isHeard { try changes.listeners.tellRemoved(id, old) }
    if !indexes.isEmpty { try noteRemoval(old, id: id) }
    try core.noteChange(of: entity)
    try changes.remove(at: cursor)
  }

  private func noteRemoval(_ old: RecordView, id: UInt64) throws(StoreError) {
    guard old.layout === entity.layout else {
      // Entries are noted in the order of ids.
      try noteGone()
      for index in indexes { try index.remove(old, id: id) }
      return
    }
    let content = old.content
    if gone.isFull(for: content.count) { try noteGone() }
    gone.append(content, id: id)
  }

  /// One index after the other, so that nothing is looked up for each record.
  private func noteGone() throws(StoreError) {
    guard gone.count > 0 else { return }
    for index in indexes { try index.remove(gone) }
    gone.removeAll()
  }

  // MARK: Ending

  /// Writes the entries of all changes.
  ///
  /// - Parameter checksUnique: throws ``StoreError/Code/uniqueViolation`` where a key is held by another
  ///   record; otherwise the caller has made sure that none is.
  func finish(checksUnique: Bool) throws(StoreError) {
    try noteGone()
    for index in indexes { try index.write(checksUnique: checksUnique) }
  }

  /// Removes the entries of removed records from their indexes; more may be removed afterwards.
  func finishRemovals() throws(StoreError) {
    try noteGone()
    for index in indexes { try index.writeRemovals() }
  }
}
