internal import LMDB

/// Reports the progress of a batch in a transaction, at most a hundred times a second and at its
/// end.
final class BatchReport {
  private let entity: StoredEntity
  private let body: (WorkProgress) -> Void
  private var last = 0.0
  private var total: Int?

  init(of entity: StoredEntity, _ body: @escaping (WorkProgress) -> Void) {
    self.entity = entity
    self.body = body
  }

  /// Reports that `done` of `total` records have been processed.
  ///
  /// Records of other entities that change along are ignored.
  @inline(never)
  func report(_ done: Int, of total: Int, _ entity: StoredEntity) {
    guard entity === self.entity else { return }
    self.total = total
    let now = DynamicValue.currentTime
    guard now - last >= 0.01 || now < last else { return }
    last = now
    // The last record is not reported as completed here, because index entries still have to be
    // written after it.
    body(WorkProgress(completed: min(done, max(0, total - 1)), total: total))
  }

  fileprivate func reportEnd(_ count: Int) {
    let total = total ?? count
    body(WorkProgress(completed: total, total: total))
  }
}

extension TreeWriteCore {
  /// Runs a batch, which returns its number of changed records, and reports its progress.
  func reporting(
    _ onProgress: ((WorkProgress) -> Void)?, of entity: StoredEntity,
    _ body: () throws(StoreError) -> Int
  ) throws(StoreError) -> Int {
    guard let onProgress else { return try body() }
    let report = BatchReport(of: entity, onProgress)
    batchReport = report
    defer { batchReport = nil }
    let count = try body()
    report.reportEnd(count)
    return count
  }
}

extension TransactionCore {
  /// Throws ``StoreError/Code/cancelled`` when the task of the write was cancelled.
  @inline(never)
  func checkCancellation(of entity: StoredEntity) throws(StoreError) {
    guard isWrite, store.environment.writeCancellation?() == true else { return }
    throw StoreError(
      .cancelled,
      "cannot finish the batch on \(entity.name): it was cancelled; no change of the write is stored",
      entity: entity.name)
  }
}
