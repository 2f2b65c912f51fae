internal import LMDB

/// Entries that are about to go into an index or out of it, in any number.
///
/// Those that need more memory than ``StoreOptions/indexMemoryInBytes`` allows are sorted and kept in
/// a scratch file beside the store, run by run, and merged when they are written. So an index of a
/// hundred million records is written in the order of its keys too.
final class IndexEntries {
  /// The entries since the last run.
  private enum Latest {
    case keys(EntryArenaBox)
    case numbers(NumberEntries)
  }

  private let latest: Latest
  private let memoryLimit: Int
  private let path: String
  private var runs: EntryRuns?

  private init(_ latest: Latest, indexCount: Int, core: TransactionCore) {
    self.latest = latest
    memoryLimit = min(
      core.store.options.indexMemoryInBytes / max(1, indexCount), EntryArena.largestByteCount)
    path = core.transaction.environment.path
  }

  /// For entries that are added key by key; entries of so many indexes are collected at the same time.
  convenience init(expectedCount: Int, indexCount: Int, core: TransactionCore) {
    self.init(
      .keys(EntryArenaBox(expectedCount: expectedCount)), indexCount: indexCount, core: core)
  }

  /// For the entries of new records in each of the indexes of `entity`.
  static func ofNewRecords(
    of entity: StoredEntity, expectedCount: Int, core: TransactionCore
  ) -> [IndexEntries] {
    entity.indexes.map { index in
      let numbers = NumberEntries(index, of: entity, expectedCount: expectedCount)
      return IndexEntries(
        numbers.map { .numbers($0) } ?? .keys(EntryArenaBox(expectedCount: expectedCount)),
        indexCount: entity.indexes.count, core: core)
    }
  }

  /// Whether entries are kept as the bytes of keys.
  var hasKeys: Bool {
    if case .keys = latest { true } else { false }
  }

  // MARK: Adding

  /// Adds an entry, where entries are added key by key; copies `key`.
  func append(key: UnsafeRawBufferPointer, recordID: UInt64) throws(StoreError) {
    guard case .keys(let box) = latest else {
      preconditionFailure("entries of new records are added by rows")
    }
    box.append(key: key, recordID: recordID)
    if box.memoryToSort > memoryLimit { try endRun() }
  }

  /// Adds the entries of `records` in the index at `place`; they are of the current layout, and have
  /// higher ids than all before.
  func append(
    _ records: borrowing RecordRow, _ keys: BatchKeys, at place: Int, core: TransactionCore
  ) throws(StoreError) {
    switch latest {
    case .keys(let box):
      try keys.collect(place, of: records, into: box, core)
      if box.memoryToSort > memoryLimit { try endRun() }
    case .numbers(let numbers):
      numbers.append(records)
      if numbers.memoryToSort > memoryLimit { try endRun() }
    }
  }

  private func endRun() throws(StoreError) {
    do {
      let runs = try self.runs ?? EntryRuns(beside: path, memory: memoryLimit)
      self.runs = runs
      sortLatest()
      switch latest {
      case .keys(let box):
        try runs.append(box)
        box.removeAll()
      case .numbers(let numbers):
        try runs.append(numbers)
        numbers.removeAll()
      }
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  private func sortLatest() {
    switch latest {
    case .keys(let box): box.sort()
    case .numbers(let numbers): numbers.sort()
    }
  }

  // MARK: Writing

  /// Puts the entries in order; nothing may be added afterwards.
  func sort() throws(StoreError) {
    if runs != nil { try endRun() } else { sortLatest() }
  }

  /// All entries, sorted before; valid while this is.
  var sorted: any SortedEntries {
    if let runs { return runs }
    return switch latest {
    case .keys(let box): box
    case .numbers(let numbers): numbers
    }
  }
}
