internal import LMDB
internal import LodestoreFormat

/// Entries to be put into one index or removed from it, in any number: as words where the index is over
/// one number, otherwise as keys.
///
/// When they need more memory than `memoryLimit` they are sorted and appended as a run to a scratch file
/// beside the store; the runs are merged when the entries are written. So an index of a hundred million
/// records too is written in the order of its keys.
final class IndexEntries {
  /// The entries since the last run.
  private enum Latest {
    case keys(KeyEntries)
    case numbers(NumberEntries)
  }

  private let latest: Latest
  private let memoryLimit: Int
  private let path: String
  private var spilled: SpilledEntries?

  /// - Parameter memoryLimit: in bytes; `.max` where the caller bounds the entries itself.
  init(
    of index: StoredIndex, of entity: StoredEntity, expectedCount: Int, memoryLimit: Int,
    core: TransactionCore
  ) {
    latest =
      NumberEntries(index, of: entity, expectedCount: expectedCount).map { .numbers($0) }
      ?? .keys(KeyEntries(expectedCount: expectedCount))
    self.memoryLimit = memoryLimit == .max ? .max : min(memoryLimit, KeyEntries.largestByteCount)
    path = core.transaction.environment.path
  }

  var isEmpty: Bool {
    guard spilled == nil else { return false }
    switch latest {
    case .keys(let entries): return entries.count == 0
    case .numbers(let numbers): return numbers.count == 0
    }
  }

  /// Whether entries are kept as the bytes of keys.
  var hasKeys: Bool {
    if case .keys = latest { true } else { false }
  }

  // MARK: Adding

  /// Adds the entry of a record of any layout in the index at `position` of `keys`; it has a higher id than
  /// all before.
  @inline(__always)
  func append(
    _ view: RecordView, id: UInt64, _ keys: BatchKeys, at position: Int, core: TransactionCore
  ) throws(StoreError) {
    switch latest {
    case .keys(let entries): try keys.append(view, id: id, at: position, to: entries, core)
    case .numbers(let numbers):
      numbers.append(try keys.word(of: view, id: id, for: numbers, core), recordID: id)
    }
    if memoryToSort > memoryLimit { try endRun() }
  }

  /// Adds the entries of `records` in the index at `position`; they are of the current layout, and have
  /// higher ids than all before.
  func append(
    _ records: borrowing RecordBuffer, _ keys: BatchKeys, at position: Int, core: TransactionCore
  ) throws(StoreError) {
    switch latest {
    case .keys(let entries): try keys.collect(position, of: records, into: entries, core)
    case .numbers(let numbers): numbers.append(records)
    }
    if memoryToSort > memoryLimit { try endRun() }
  }

  /// Adds the entries of a record before and after its change, the old one to this and the new one to
  /// `added`, where they differ; both are of one index.
  @inline(__always)
  func appendDifference(
    _ old: RecordView, _ new: RecordView, id: UInt64, _ keys: BatchKeys, at position: Int,
    added: IndexEntries, core: WriteCore
  ) throws(StoreError) {
    switch (latest, added.latest) {
    case (.keys(let leaving), .keys(let coming)):
      try keys.encode(position, of: old, id: id, core)
      swap(&core.key, &core.oldKey)
      try keys.encode(position, of: new, id: id, core)
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
    case .keys(let entries): entries.memoryToSort
    case .numbers(let numbers): numbers.memoryToSort
    }
  }

  @inline(never)
  private func endRun() throws(StoreError) {
    do {
      let spilled = try self.spilled ?? SpilledEntries(beside: path, memory: memoryLimit)
      self.spilled = spilled
      sortLatest()
      try spilled.append(sortedLatest)
      removeLatest()
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  private func sortLatest() {
    switch latest {
    case .keys(let entries): entries.sort()
    case .numbers(let numbers): numbers.sort()
    }
  }

  private func removeLatest() {
    switch latest {
    case .keys(let entries): entries.removeAll()
    case .numbers(let numbers): numbers.removeAll()
    }
  }

  private var sortedLatest: any SortedEntries {
    switch latest {
    case .keys(let entries): entries
    case .numbers(let numbers): numbers
    }
  }

  // MARK: Writing

  /// Puts the entries in order; nothing may be added afterwards but after ``removeAll()``.
  func sort() throws(StoreError) {
    if spilled != nil { try endRun() } else { sortLatest() }
  }

  /// All entries, sorted before; valid while this is.
  var sorted: any SortedEntries { spilled ?? sortedLatest }

  func removeAll() {
    spilled = nil
    removeLatest()
  }

  /// Removes the entries of `old` from `index` and puts all of these, both sorted before: in one pass
  /// where both are in memory.
  func write(
    into index: StoredIndex, removing old: IndexEntries, core: WriteCore
  ) throws(StoreError) {
    guard spilled == nil, old.spilled == nil else {
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
