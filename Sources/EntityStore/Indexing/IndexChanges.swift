internal import LMDB
internal import LodestoreFormat

/// The entries that a batch removes from one index and puts into it.
///
/// New records are noted in ascending order of their ids, and so are removed and changed ones.
final class IndexChanges {
  let index: StoredIndex
  private let keys: BatchKeys
  /// The position of ``index`` in ``keys``.
  private let position: Int
  private let core: TreeWriteCore
  private let entity: StoredEntity
  private let memoryLimit: Int
  private let expectedRemovals: Int
  /// Whether the index is over one number, whose values before and after a change are cheaply
  /// compared.
  private let isOverNumber: Bool
  /// The entries to write to the index.
  let added: IndexEntries
  /// The entries to remove from the index; `nil` until the first one.
  // Only one thread uses the object. An exclusivity check for each access would slow every batch.
  @exclusivity(unchecked) private var removed: IndexEntries?

  /// Creates an empty list of changes for the index at `position` of `keys`.
  ///
  /// - Parameters:
  ///   - expectedCount: the expected number of entries to add.
  ///   - expectedRemovals: the expected number of entries to remove.
  ///   - memoryLimit: the maximum memory of the entries to add, in bytes. The entries to remove may
  ///     take the same amount in addition.
  init(
    _ keys: BatchKeys, at position: Int, expectedCount: Int, expectedRemovals: Int = 0,
    memoryLimit: Int, core: TreeWriteCore
  ) {
    index = keys.indexes[position]
    entity = keys.entity
    self.keys = keys
    self.position = position
    self.memoryLimit = memoryLimit
    self.expectedRemovals = expectedRemovals
    self.core = core
    added = IndexEntries(
      of: index, of: entity, expectedCount: expectedCount, memoryLimit: memoryLimit, core: core)
    isOverNumber = !added.hasKeys
    core.noteBatch(of: max(expectedCount, expectedRemovals))
  }

  @inline(__always)
  private var leaving: IndexEntries {
    if let removed { return removed }
    let made = IndexEntries(
      of: index, of: entity, expectedCount: expectedRemovals, memoryLimit: memoryLimit, core: core)
    removed = made
    return made
  }

  // MARK: Noting changed records

  /// Notes a new record.
  @inline(__always)
  func add(_ view: RecordView, id: UInt64) throws(StoreError) {
    try added.append(view, id: id, keys, at: position, core: core)
  }

  /// Notes new records of the current layout.
  func add(_ records: borrowing RecordBuffer) throws(StoreError) {
    try added.append(records, keys, at: position, core: core)
  }

  /// Notes a removed record.
  func remove(_ view: RecordView, id: UInt64) throws(StoreError) {
    try leaving.append(view, id: id, keys, at: position, core: core)
  }

  /// Notes removed records of the current layout.
  func remove(_ records: borrowing RecordBuffer) throws(StoreError) {
    try leaving.append(records, keys, at: position, core: core)
  }

  /// Notes a changed record if its key has changed.
  @inline(__always)
  func change(_ old: RecordView, to new: RecordView, id: UInt64) throws(StoreError) {
    if !isOverNumber, keys.areSurelySame(position, old, new) { return }
    try leaving.appendDifference(
      old, new, id: id, keys, at: position, added: added, core: core)
  }

  // MARK: Writing

  /// Writes the noted changes.
  ///
  /// Removals come first, so that a record may take a key which another one loses.
  ///
  /// - Parameter checksUnique: whether to throw if another record has one of the added keys. Pass
  ///   false if it is known that no record has one.
  func write(checksUnique: Bool) throws(StoreError) {
    if added.isEmpty { return try writeRemovals() }
    try added.sort()
    guard let removed else {
      if checksUnique { try added.sorted.checkUnique(index, of: entity, core: core) }
      return try added.sorted.write(into: index, core: core)
    }
    try removed.sort()
    if checksUnique {
      try removed.sorted.remove(from: index, core: core)
      try added.sorted.checkUnique(index, of: entity, core: core)
      try added.sorted.write(into: index, core: core)
    } else {
      try added.write(into: index, removing: removed, core: core)
    }
  }

  /// Throws if another record has one of the added keys, or if an added key is repeated.
  ///
  /// The entries must be sorted.
  ///
  /// - Parameter firstNew: the id of the first record of a batch insert, for the error.
  func checkAddedUnique(firstNew: UInt64) throws(StoreError) {
    try added.sorted.checkUnique(index, of: entity, firstNew: firstNew, core: core)
  }

  /// Writes the added entries, which must be sorted.
  func writeAdded() throws(StoreError) { try added.sorted.write(into: index, core: core) }

  /// Removes the noted entries from the index, and keeps the list's memory.
  func writeRemovals() throws(StoreError) {
    guard let removed else { return }
    try removed.sort()
    try removed.sorted.remove(from: index, core: core)
    removed.removeAll()
  }
}

extension TreeWriteCore {
  /// Asks the system to read ahead until the write ends, if a batch of `count` changes is large.
  ///
  /// Such a batch reads most pages of a tree.
  func noteBatch(of count: Int) {
    if count >= Environment.smallestBulk { transaction.environment.beginBulkWrite() }
  }
}
