/// Reports the progress of a run and cancels it.
///
/// The run asks every thousand entries or records, which is well under 50 milliseconds.
package struct RunControl: Sendable {
  /// Whether the run is to end with ``StoreError/Code/cancelled``.
  var isCancelled: @Sendable () -> Bool
  /// Told how many records have been looked at, and how many there are to look at where that is
  /// known.
  var report: (@Sendable (_ done: Int, _ total: Int?) -> Void)?

  package init(
    isCancelled: @escaping @Sendable () -> Bool = { false },
    report: (@Sendable (_ done: Int, _ total: Int?) -> Void)? = nil
  ) {
    self.isCancelled = isCancelled
    self.report = report
  }
}
