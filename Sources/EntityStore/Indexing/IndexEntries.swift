internal import LMDB
internal import LodestoreFormat

/// Entries that are about to go into an index or out of it, in any number.
///
/// Those that need more memory than ``StoreOptions/batchMemoryInBytes`` allows are sorted and kept in
/// a scratch file beside the store, run by run, and merged when they are written. So an index of a
/// hundred million records is written in the order of its keys too.
final class IndexEntries {
  /// The entries since the last run.
  private let latest: CollectedEntries
  private let memoryLimit: Int
  private let path: String
  private var runs: EntryRuns?

  /// For entries of `index`, one of so many whose entries are collected at the same time.
  init(
    of index: StoredIndex, of entity: StoredEntity, expectedCount: Int, beside listCount: Int,
    core: TransactionCore
  ) {
    latest = CollectedEntries(of: index, of: entity, expectedCount: expectedCount)
    memoryLimit = min(
      core.store.options.batchMemoryInBytes / max(1, listCount), EntryArena.largestByteCount)
    path = core.transaction.environment.path
  }

  /// Whether entries are kept as the bytes of keys.
  var hasKeys: Bool {
    if case .keys = latest { true } else { false }
  }

  // MARK: Adding

  /// Adds the entry of a record of any layout in the index at `place` of `keys`; it has a higher id than
  /// all before.
  func append(
    _ view: RecordView, id: UInt64, _ keys: BatchKeys, at place: Int, core: TransactionCore
  ) throws(StoreError) {
    try latest.append(view, id: id, keys, at: place, core: core)
    if latest.memoryToSort > memoryLimit { try endRun() }
  }

  /// Adds the entries of `records` in the index at `place`; they are of the current layout, and have
  /// higher ids than all before.
  func append(
    _ records: borrowing RecordRow, _ keys: BatchKeys, at place: Int, core: TransactionCore
  ) throws(StoreError) {
    try latest.append(records, keys, at: place, core: core)
    if latest.memoryToSort > memoryLimit { try endRun() }
  }

  private func endRun() throws(StoreError) {
    do {
      let runs = try self.runs ?? EntryRuns(beside: path, memory: memoryLimit)
      self.runs = runs
      latest.sort()
      try runs.append(latest.sorted)
      latest.removeAll()
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  // MARK: Writing

  /// Puts the entries in order; nothing may be added afterwards.
  func sort() throws(StoreError) {
    if runs != nil { try endRun() } else { latest.sort() }
  }

  /// All entries, sorted before; valid while this is.
  var sorted: any SortedEntries { runs ?? latest.sorted }
}
