internal import LMDB

/// Collects and sorts the index entries of a batch insert on a second thread.
///
/// The first thread appends the next records meanwhile.
///
/// The `Sendable` conformance is unchecked. From `run` until `wait` returns, a part and the entries
/// belong to the helper thread; its mutex synchronizes both threads. Only the writer's thread uses
/// `nextPart`. The rest is constant.
final class EntryCollector: @unchecked Sendable {
  /// The number of record buffers; one is filled while others are processed, and all of them fit in
  /// the processor's cache.
  private static let partCount = 4

  private final class Part {
    // Only one thread at a time uses the records.
    @exclusivity(unchecked) var records = RecordBuffer(byteCount: RecordBuffer.usualByteCount)
  }

  private let helper: HelperThread
  private let indexes: [IndexChanges]
  private let parts: [Part]
  /// The index of the buffer that was passed to the helper thread the longest time ago, which is
  /// used next.
  private var nextPart = 0
  private let failure = Guarded<StoreError?>(nil)

  /// Returns `nil` when a second thread does not help.
  ///
  /// There are three such cases:
  /// - The machine has only one core.
  /// - The keys depend on more than the records, so the thread cannot create them.
  /// - All entries are words. Reading the words takes less time than passing the records to another
  ///   core.
  init?(into indexes: [IndexChanges], _ keys: BatchKeys) {
    guard keys.areOfRecordsAlone, indexes.contains(where: \.added.hasKeys),
      let helper = HelperThread()
    else { return nil }
    self.helper = helper
    self.indexes = indexes
    parts = (0..<Self.partCount).map { _ in Part() }
  }

  /// Waits for the helper thread and ends it.
  ///
  /// Call this before the last reference is released, because a job may hold that reference.
  func stop() { helper.stop() }

  /// Passes `records` to the helper thread, and leaves the buffer empty.
  func collect(_ records: inout NewRecords) throws(StoreError) {
    try check()
    let taken = parts[nextPart]
    nextPart = (nextPart + 1) % parts.count
    helper.wait(forAllBut: parts.count - 1)
    records.move(to: &taken.records)
    helper.run { [self] in
      do throws(StoreError) {
        for index in indexes { try index.add(taken.records) }
      } catch {
        note(error)
      }
      taken.records.removeAll()
    }
  }

  /// Sorts the entries of all indexes, half of them on each thread.
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
