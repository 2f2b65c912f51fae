/// The work of opening a store before it can be used.
///
/// Records are read and index entries written when the declarations require new indexes or values
/// that are not null. Pages are checked when the file is not known to be good.
///
/// Used on the thread that opens the store.
final class OpeningWork {
  private let isCancelled: () -> Bool
  private let report: (_ done: Int, _ total: Int) -> Void
  /// The number of records and entries to process.
  private var total = 0
  private var done = 0
  /// The highest reported value of ``done``.
  ///
  /// When the work starts again, progress is reported only above this value.
  private var reportedCount = 0
  /// The number of steps between two reports.
  private var interval = 1

  init(isCancelled: @escaping () -> Bool, report: @escaping (_ done: Int, _ total: Int) -> Void) {
    self.isCancelled = isCancelled
    self.report = report
  }

  /// Reports the number of checked pages of the file; returns whether to continue.
  func check(done: Int, total: Int) -> Bool {
    if total > 0 { report(done, total) }
    return !isCancelled()
  }

  /// Called before the first ``step()``, and again when the transaction of the opening restarts.
  func begin(total: Int) {
    self.total = total
    done = 0
    interval = max(1_024, total / 200)
  }

  /// Called for each record and entry; throws ``StoreError/Code/cancelled``.
  @inline(__always)
  func step() throws(StoreError) {
    done &+= 1
    if done % interval == 0 { try look() }
  }

  @inline(never)
  private func look() throws(StoreError) {
    guard !isCancelled() else { throw StoreError(.cancelled, "cannot open the store: cancelled") }
    if done > reportedCount {
      reportedCount = done
      // The work that migration stages cause is unknown at the beginning, so the total does not
      // include it.
      report(min(done, total), total)
    }
  }

  /// Reports the end, if there was any work.
  func end() { if total > 0 { report(total, total) } }
}
