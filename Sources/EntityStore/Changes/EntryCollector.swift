internal import LMDB
import Synchronization

/// Collects and sorts the index entries of a batch insert on a second core, while the first appends
/// the next records.
///
/// `@unchecked Sendable`: a row and the entries belong to the helper from the moment they are given to
/// it until it is waited for, whose mutex orders the two; `nextRow` is the writer's alone, the rest
/// does not change.
final class EntryCollector: @unchecked Sendable {
  /// One is filled while others wait; together they stay in the cache.
  private static let rowCount = 4

  private final class Row {
    // Of one thread at a time.
    @exclusivity(unchecked) var records = RecordBuffer(byteCount: RecordBuffer.usualByteCount)
  }

  private let helper: HelperThread
  private let indexes: [IndexChanges]
  private let rows: [Row]
  /// The row that was given longest ago.
  private var nextRow = 0
  private let failure = Mutex<StoreError?>(nil)

  /// `nil` where there is no second core, where keys are not made of the records alone, and where all
  /// entries are words, which are read in less time than another core has the records.
  init?(into indexes: [IndexChanges], _ keys: BatchKeys) {
    guard keys.areOfRecordsAlone, indexes.contains(where: \.added.hasKeys),
      let helper = HelperThread()
    else { return nil }
    self.helper = helper
    self.indexes = indexes
    rows = (0..<Self.rowCount).map { _ in Row() }
  }

  /// Waits for the other core and lets it go; called before the last reference goes, which a job may
  /// have.
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
    for place in stride(from: 1, to: indexes.count, by: 2) {
      helper.run { [self] in
        do throws(StoreError) {
          try indexes[place].added.sort()
        } catch {
          note(error)
        }
      }
    }
    defer { helper.wait() }
    for place in stride(from: 0, to: indexes.count, by: 2) { try indexes[place].added.sort() }
    helper.wait()
    try check()
  }

  private func note(_ error: StoreError) { failure.withLock { $0 = $0 ?? error } }

  /// Throws what went wrong on the other core.
  private func check() throws(StoreError) {
    if let failure = failure.withLock({ $0 }) { throw failure }
  }
}
