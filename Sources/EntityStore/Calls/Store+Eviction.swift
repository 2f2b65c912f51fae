internal import LMDB

extension Store {
  /// Removes the records whose date has passed from the file, and the oldest records of each entity
  /// above its limit, with those that go with them by delete rules.
  ///
  ///     let report = try store.evict()
  ///     print("removed \(report.evictedCount) offers")
  ///
  /// A store that is open for writing evicts by itself: see <doc:Expiry> and <doc:EntityLimits>. The
  /// call is for programs that want it done at a certain time, and tries again what could not be
  /// removed before.
  ///
  /// Each transaction removes some thousands of records, so other writes have their turn between
  /// them. After an error, the transactions before it stand.
  ///
  /// - Returns: how many records were removed, and how many could not be.
  /// - Throws: ``StoreError/Code/readOnly``, ``StoreError/Code/nestedWrite``,
  ///   ``StoreError/Code/diskFull`` and the other errors of a write.
  /// - Complexity: O(k log n) for *k* records.
  @discardableResult
  public func evict() throws -> EvictionReport {
    try core.checkWritable()
    try core.checkOpen("evict records of")
    return try core.evict()
  }

  /// Removes expired records and those above a limit, on the store's writer thread; otherwise as the
  /// synchronous form.
  ///
  /// - Throws: as the synchronous form; `CancellationError` when the task is cancelled, after a
  ///   transaction.
  @discardableResult
  public func evict() async throws -> EvictionReport {
    try Task.checkCancellation()
    try core.checkWritable()
    try core.checkOpen("evict records of")
    let core = core
    let flag = Latch()
    return try await withTaskCancellationHandler {
      try await core.onWriter {
        try core.evict { if flag.isSet { throw CancellationError() } }
      }
    } onCancel: {
      flag.set()
    }
  }
}
