internal import LMDB

extension Store {
  /// Removes expired records, and the oldest records of entities above their limits, with cascaded
  /// deletes.
  ///
  ///     let report = try store.evict()
  ///     print("removed \(report.evictedCount) offers")
  ///
  /// A store that is open for writing evicts automatically: see <doc:Expiry> and
  /// <doc:EntityLimits>. Call this method to evict at a certain time. Records that could not be
  /// removed before are tried again.
  ///
  /// Each transaction removes some thousands of records, so other writes run in between. After an
  /// error, the earlier transactions stay committed.
  ///
  /// - Returns: the numbers of records that were removed, and that could not be removed.
  /// - Throws: ``StoreError/Code/readOnly``, ``StoreError/Code/nestedWrite``,
  ///   ``StoreError/Code/diskFull`` and the other errors of a write.
  /// - Complexity: O(*k* log *n*) for *k* records.
  @discardableResult
  public func evict() throws -> EvictionReport {
    try core.checkWritable()
    try core.checkOpen("evict records of")
    return try core.evict()
  }

  /// Removes expired records and those above a limit, on the store's writer thread.
  ///
  /// - Throws: the errors of the synchronous form; `CancellationError` between two transactions
  ///   when the task is cancelled.
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
