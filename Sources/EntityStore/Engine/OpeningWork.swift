/// What opening a store has to do before it can be used: records are read, and index entries written, when
/// the declarations ask for new indexes or for values that may not be null, and pages checked when the file
/// is not known to be good.
///
/// Used on the thread that opens the store.
final class OpeningWork {
  private let isCancelled: () -> Bool
  private let report: (_ done: Int, _ total: Int) -> Void
  /// How many records and entries there are to deal with.
  private var total = 0
  private var done = 0
  /// The highest ``done`` that was told: what has to run again is not told twice.
  private var told = 0
  /// So many are dealt with between two reports.
  private var interval = 1

  init(isCancelled: @escaping () -> Bool, report: @escaping (_ done: Int, _ total: Int) -> Void) {
    self.isCancelled = isCancelled
    self.report = report
  }

  /// Tells how many pages of the file are checked; returns whether to go on.
  func check(done: Int, total: Int) -> Bool {
    if total > 0 { report(done, total) }
    return !isCancelled()
  }

  /// Called before the first ``step()``, also when the work has to begin again.
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
    if done > told {
      told = done
      // What follows from the stages is not known, and not counted, when the work begins.
      report(min(done, total), total)
    }
  }

  /// Tells of the end, if there was anything to do.
  func end() {
    if total > 0 { report(total, total) }
  }
}
