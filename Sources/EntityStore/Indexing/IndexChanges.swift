internal import LodestoreFormat

/// What a batch takes out of one index and what it puts into it.
///
/// Each record that is noted has a higher id than those before it that were noted in the same way.
final class IndexChanges {
  let index: StoredIndex
  private let keys: BatchKeys
  /// Of ``index`` in ``keys``.
  private let place: Int
  private let core: TransactionCore
  private let entity: StoredEntity
  private let memoryLimit: Int
  private let expectedRemovals: Int
  /// Whether entries are words, which are compared as fast as bytes of records.
  private let isOverNumber: Bool
  /// What goes in.
  let added: IndexEntries
  // Of one thread; a check of each access would show in every batch.
  /// What goes out; made when the first one does.
  @exclusivity(unchecked) private var removed: IndexEntries?

  /// For the index at `place` of `keys`.
  ///
  /// - Parameters:
  ///   - expectedCount: of the entries that go in.
  ///   - expectedRemovals: of the entries that go out.
  ///   - memoryLimit: for the entries that go in, and again for those that go out; in bytes.
  init(
    _ keys: BatchKeys, at place: Int, expectedCount: Int, expectedRemovals: Int = 0,
    memoryLimit: Int,
    core: TransactionCore
  ) {
    index = keys.indexes[place]
    entity = keys.entity
    self.keys = keys
    self.place = place
    self.memoryLimit = memoryLimit
    self.expectedRemovals = expectedRemovals
    self.core = core
    added = IndexEntries(
      of: index, of: entity, expectedCount: expectedCount, memoryLimit: memoryLimit, core: core)
    isOverNumber = !added.hasKeys
  }

  @inline(__always)
  private var leaving: IndexEntries {
    if let removed { return removed }
    let made = IndexEntries(
      of: index, of: entity, expectedCount: expectedRemovals, memoryLimit: memoryLimit,
      core: core)
    removed = made
    return made
  }

  // MARK: Noting

  /// Notes a new record.
  @inline(__always)
  func add(_ view: RecordView, id: UInt64) throws(StoreError) {
    try added.append(view, id: id, keys, at: place, core: core)
  }

  /// Notes new records of the current layout.
  func add(_ records: borrowing RecordBuffer) throws(StoreError) {
    try added.append(records, keys, at: place, core: core)
  }

  /// Notes a record that goes.
  func remove(_ view: RecordView, id: UInt64) throws(StoreError) {
    try leaving.append(view, id: id, keys, at: place, core: core)
  }

  /// Notes records of the current layout that go.
  func remove(_ records: borrowing RecordBuffer) throws(StoreError) {
    try leaving.append(records, keys, at: place, core: core)
  }

  /// Notes a record that becomes another one, where its key does.
  @inline(__always)
  func change(_ old: RecordView, to new: RecordView, id: UInt64) throws(StoreError) {
    if !isOverNumber, keys.areSurelySame(place, old, new) { return }
    try leaving.appendDifference(
      old, new, id: id, keys, at: place, added: added, core: core)
  }

  // MARK: Writing

  /// Writes what was noted: first what goes out, so that what one record gives up another may take.
  ///
  /// - Parameter checksUnique: throws when a key that comes is held by another record; otherwise that is
  ///   known not to be.
  func write(checksUnique: Bool) throws(StoreError) {
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

  /// Throws when a key that comes is held by another record, or comes twice; the entries are sorted
  /// before.
  func checkAddedUnique() throws(StoreError) {
    try added.sorted.checkUnique(index, of: entity, core: core)
  }

  /// Writes the entries that come, which are sorted before.
  func writeAdded() throws(StoreError) { try added.sorted.write(into: index, core: core) }

  /// Removes the entries of records that went, and keeps the memory for others.
  func writeRemovals() throws(StoreError) {
    guard let removed else { return }
    try removed.sort()
    try removed.sorted.remove(from: index, core: core)
    removed.removeAll()
  }
}
