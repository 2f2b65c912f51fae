/// Observes and cancels a run.
///
/// The run calls the closures every thousand entries or records, so much more often than every 50
/// milliseconds.
package struct RunControl: Sendable {
  /// Returns whether the run must end with ``StoreError/Code/cancelled``.
  var isCancelled: @Sendable () -> Bool
  /// Receives the number of records tested so far, and the total number if it is known.
  var report: (@Sendable (_ done: Int, _ total: Int?) -> Void)?

  package init(
    isCancelled: @escaping @Sendable () -> Bool = { false },
    report: (@Sendable (_ done: Int, _ total: Int?) -> Void)? = nil
  ) {
    self.isCancelled = isCancelled
    self.report = report
  }
}
