internal import LMDB

/// Collects and sorts the index entries of a batch insert on a second core, while the first appends
/// the next records.
///
/// `@unchecked Sendable`: a row and the entries belong to the helper thread from `run` until `wait`
/// returns, which synchronise by its mutex; `nextRow` is used by the writer's thread alone, the rest is
/// constant.
final class EntryCollector: @unchecked Sendable {
  /// One is filled while others are processed; together they fit in the cache.
  private static let rowCount = 4

  private final class Row {
    // Of one thread at a time.
    @exclusivity(unchecked) var records = RecordBuffer(byteCount: RecordBuffer.usualByteCount)
  }

  private let helper: HelperThread
  private let indexes: [IndexChanges]
  private let rows: [Row]
  /// The index of the row that was passed on longest ago.
  private var nextRow = 0
  private let failure = Guarded<StoreError?>(nil)

  /// `nil` where there is no second core, where making keys needs more than the records, and where all
  /// entries are words: reading these takes less time than passing the records to another core.
  init?(into indexes: [IndexChanges], _ keys: BatchKeys) {
    guard keys.areOfRecordsAlone, indexes.contains(where: \.added.hasKeys),
      let helper = HelperThread()
    else { return nil }
    self.helper = helper
    self.indexes = indexes
    rows = (0..<Self.rowCount).map { _ in Row() }
  }

  /// Waits for the helper thread and ends it; must be called before the last reference is released,
  /// since a job may hold that one.
  func stop() { helper.stop() }

  /// Takes the records of `row`, and leaves it empty.
  func collect(_ row: inout RecordBuffer) throws(StoreError) {
    try check()
    let taken = rows[nextRow]
    nextRow = (nextRow + 1) % rows.count
    helper.wait(forAllBut: rows.count - 1)
    swap(&taken.records, &row)
    helper.run { [self] in
      do throws(StoreError) {
        for index in indexes { try index.add(taken.records) }
      } catch {
        note(error)
      }
      taken.records.removeAll()
    }
  }

  /// Sorts the entries of every second index on each core.
  func sort() throws(StoreError) {
    helper.wait()
    try check()
    for position in stride(from: 1, to: indexes.count, by: 2) {
      helper.run { [self] in
        do throws(StoreError) {
          try indexes[position].added.sort()
        } catch {
          note(error)
        }
      }
    }
    defer { helper.wait() }
    for position in stride(from: 0, to: indexes.count, by: 2) { try indexes[position].added.sort() }
    helper.wait()
    try check()
  }

  private func note(_ error: StoreError) { failure.withLock { $0 = $0 ?? error } }

  /// Throws the first error of the helper thread.
  private func check() throws(StoreError) {
    if let failure = failure.withLock({ $0 }) { throw failure }
  }
}
