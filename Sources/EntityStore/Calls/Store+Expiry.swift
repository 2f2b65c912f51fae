internal import LMDB

extension Store {
  /// Removes the records whose date has passed from the file, with those that go with them by
  /// delete rules.
  ///
  ///     let report = try store.evictExpired()
  ///     print("removed \(report.evictedCount) offers")
  ///
  /// No read has shown them since they expired, and a store that is open for writing evicts them by
  /// itself: see <doc:Expiry>. The call is for programs that want it done at a certain time, and
  /// tries again what could not be removed before.
  ///
  /// Each transaction removes some thousands of records, so other writes have their turn between
  /// them. After an error, the transactions before it stand.
  ///
  /// - Returns: how many records were removed, and how many could not be.
  /// - Throws: ``StoreError/Code/readOnly``, ``StoreError/Code/nestedWrite``,
  ///   ``StoreError/Code/diskFull`` and the other errors of a write.
  /// - Complexity: O(k log n) for *k* expired records.
  @discardableResult
  public func evictExpired() throws -> EvictionReport {
    try core.checkWritable()
    try core.checkOpen("evict expired records of")
    return try core.evictExpired()
  }

  /// Removes the records whose date has passed, on the store's writer thread; otherwise as the
  /// synchronous form.
  ///
  /// - Throws: as the synchronous form; `CancellationError` when the task is cancelled, after a
  ///   transaction.
  @discardableResult
  public func evictExpired() async throws -> EvictionReport {
    try Task.checkCancellation()
    try core.checkWritable()
    try core.checkOpen("evict expired records of")
    let core = core
    let flag = Latch()
    return try await withTaskCancellationHandler {
      try await core.onWriter {
        try core.evictExpired { if flag.isSet { throw CancellationError() } }
      }
    } onCancel: {
      flag.set()
    }
  }
}
