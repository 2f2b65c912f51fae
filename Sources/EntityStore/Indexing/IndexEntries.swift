internal import LMDB
internal import LodestoreFormat

/// Any number of entries to add to one index or to remove from it.
///
/// The entries are stored as words if the index is over one number, otherwise as keys.
///
/// If the entries exceed `memoryLimit`, they are sorted and appended as a run to a scratch file
/// next to the store. The runs are merged when the entries are written. So even an index of a
/// hundred million records is written in key order.
final class IndexEntries {
  /// The entries added since the last run was written to the file.
  private enum Latest {
    case keys(KeyEntries)
    case numbers(NumberEntries)
  }

  private let latest: Latest
  private let memoryLimit: Int
  private let path: String
  private var spilled: SpilledEntries?

  /// Creates an empty list of entries of `index`.
  ///
  /// - Parameter memoryLimit: the limit in bytes; `.max` if the caller limits the entries itself.
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

  /// Whether the entries are the bytes of keys.
  var hasKeys: Bool { if case .keys = latest { true } else { false } }

  // MARK: Adding

  /// Appends the entry of a record of any layout in the index at `position` of `keys`.
  ///
  /// The record's id must be higher than all earlier ones.
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

  /// Appends the entries of `records` in the index at `position`.
  ///
  /// The records must have the current layout and higher ids than all earlier ones.
  func append(
    _ records: borrowing RecordBuffer, _ keys: BatchKeys, at position: Int, core: TransactionCore
  ) throws(StoreError) {
    switch latest {
    case .keys(let entries): try keys.collect(position, of: records, into: entries, core)
    case .numbers(let numbers): numbers.append(records)
    }
    if memoryToSort > memoryLimit { try endRun() }
  }

  /// Appends a record's entry before a change to this list and its entry after the change to
  /// `added`, if they differ.
  ///
  /// The two lists must be for the same index.
  @inline(__always)
  func appendDifference(
    _ old: RecordView, _ new: RecordView, id: UInt64, _ keys: BatchKeys, at position: Int,
    added: IndexEntries, core: TreeWriteCore
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
    default: preconditionFailure("the entries of one index are all keys or all numbers")
    }
    if memoryToSort > memoryLimit { try endRun() }
    if added.memoryToSort > added.memoryLimit { try added.endRun() }
  }

  /// The memory that the entries since the last run take, including the memory to sort them.
  @inline(__always)
  private var memoryToSort: Int {
    switch latest {
    case .keys(let entries): entries.memoryToSort
    case .numbers(let numbers): numbers.memoryToSort
    }
  }

  @inline(never)
  private func endRun() throws(StoreError) {
    try wrappingErrors {
      let spilled = try self.spilled ?? SpilledEntries(beside: path, memory: memoryLimit)
      self.spilled = spilled
      sortLatest()
      try spilled.append(sortedLatest)
      removeLatest()
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

  /// Sorts the entries.
  ///
  /// None may be added afterwards, except after ``removeAll()``.
  func sort() throws(StoreError) {
    if spilled != nil { try endRun() } else { sortLatest() }
  }

  /// All entries after ``sort()``, valid as long as this object exists.
  var sorted: any SortedEntries { spilled ?? sortedLatest }

  func removeAll() {
    spilled = nil
    removeLatest()
  }

  /// Removes the entries of `old` from `index` and puts these entries; both must be sorted.
  ///
  /// If both lists are in memory, one pass over the index does both.
  func write(
    into index: StoredIndex, removing old: IndexEntries, core: TreeWriteCore
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
    default: preconditionFailure("the entries of one index are all keys or all numbers")
    }
  }
}
