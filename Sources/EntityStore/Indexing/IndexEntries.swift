internal import LMDB
internal import LodestoreFormat

/// Entries that are about to go into one index or out of it, in any number: as words where the index is
/// over one number, otherwise as keys.
///
/// Those that need more memory than `memoryLimit` are sorted and kept in a scratch file beside the
/// store, run by run, and merged when they are written. So an index of a hundred million records is
/// written in the order of its keys too.
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

  /// - Parameter memoryLimit: in bytes; `.max` where the caller bounds the entries itself.
  init(
    of index: StoredIndex, of entity: StoredEntity, expectedCount: Int, memoryLimit: Int,
    core: TransactionCore
  ) {
    latest =
      NumberEntries(index, of: entity, expectedCount: expectedCount).map { .numbers($0) }
      ?? .keys(EntryArenaBox(expectedCount: expectedCount))
    self.memoryLimit = memoryLimit == .max ? .max : min(memoryLimit, EntryArena.largestByteCount)
    path = core.transaction.environment.path
  }

  /// Whether entries are kept as the bytes of keys.
  var hasKeys: Bool {
    if case .keys = latest { true } else { false }
  }

  // MARK: Adding

  /// Adds the entry of a record of any layout in the index at `place` of `keys`; it has a higher id than
  /// all before.
  @inline(__always)
  func append(
    _ view: RecordView, id: UInt64, _ keys: BatchKeys, at place: Int, core: TransactionCore
  ) throws(StoreError) {
    switch latest {
    case .keys(let box): try keys.append(view, id: id, at: place, to: box, core)
    case .numbers(let numbers):
      numbers.append(try keys.word(of: view, id: id, for: numbers, core), recordID: id)
    }
    if memoryToSort > memoryLimit { try endRun() }
  }

  /// Adds the entries of `records` in the index at `place`; they are of the current layout, and have
  /// higher ids than all before.
  func append(
    _ records: borrowing RecordBuffer, _ keys: BatchKeys, at place: Int, core: TransactionCore
  ) throws(StoreError) {
    switch latest {
    case .keys(let box): try keys.collect(place, of: records, into: box, core)
    case .numbers(let numbers): numbers.append(records)
    }
    if memoryToSort > memoryLimit { try endRun() }
  }

  /// Adds the entries of a record before and after its change, the old one to this and the new one to
  /// `added`, where they differ; both are of one index.
  @inline(__always)
  func appendDifference(
    _ old: RecordView, _ new: RecordView, id: UInt64, _ keys: BatchKeys, at place: Int,
    added: IndexEntries, core: TransactionCore
  ) throws(StoreError) {
    switch (latest, added.latest) {
    case (.keys(let leaving), .keys(let coming)):
      try keys.encode(place, of: old, id: id, core)
      swap(&core.key, &core.oldKey)
      try keys.encode(place, of: new, id: id, core)
      if compareKeys(core.key.bytes, core.oldKey.bytes) == 0 { return }
      leaving.append(key: core.oldKey.bytes, recordID: id)
      coming.append(key: core.key.bytes, recordID: id)
    case (.numbers(let leaving), .numbers(let coming)):
      let before = try keys.word(of: old, id: id, for: leaving, core)
      let after = try keys.word(of: new, id: id, for: coming, core)
      if before == after { return }
      leaving.append(before, recordID: id)
      coming.append(after, recordID: id)
    default:
      preconditionFailure("the entries of one index are all keys or all numbers")
    }
    if memoryToSort > memoryLimit { try endRun() }
    if added.memoryToSort > added.memoryLimit { try added.endRun() }
  }

  /// What the entries since the last run and the sorting of them take.
  @inline(__always)
  private var memoryToSort: Int {
    switch latest {
    case .keys(let box): box.memoryToSort
    case .numbers(let numbers): numbers.memoryToSort
    }
  }

  @inline(never)
  private func endRun() throws(StoreError) {
    do {
      let runs = try self.runs ?? EntryRuns(beside: path, memory: memoryLimit)
      self.runs = runs
      sortLatest()
      try runs.append(sortedLatest)
      removeLatest()
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

  private func removeLatest() {
    switch latest {
    case .keys(let box): box.removeAll()
    case .numbers(let numbers): numbers.removeAll()
    }
  }

  private var sortedLatest: any SortedEntries {
    switch latest {
    case .keys(let box): box
    case .numbers(let numbers): numbers
    }
  }

  // MARK: Writing

  /// Puts the entries in order; nothing may be added afterwards but after ``removeAll()``.
  func sort() throws(StoreError) {
    if runs != nil { try endRun() } else { sortLatest() }
  }

  /// All entries, sorted before; valid while this is.
  var sorted: any SortedEntries { runs ?? sortedLatest }

  func removeAll() {
    runs = nil
    removeLatest()
  }

  /// Removes the entries of `old` from `index` and puts all of these, both sorted before: in one pass
  /// where both are in memory.
  func write(
    into index: StoredIndex, removing old: IndexEntries, core: TransactionCore
  ) throws(StoreError) {
    guard runs == nil, old.runs == nil else {
      try old.sorted.remove(from: index, core: core)
      return try sorted.write(into: index, core: core)
    }
    switch (old.latest, latest) {
    case (.keys(let leaving), .keys(let coming)):
      try coming.write(into: index, removing: leaving, core: core)
    case (.numbers(let leaving), .numbers(let coming)):
      try coming.write(into: index, removing: leaving, core: core)
    default:
      preconditionFailure("the entries of one index are all keys or all numbers")
    }
  }
}
