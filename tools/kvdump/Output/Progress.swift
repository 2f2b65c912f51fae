import EntityStore

/// A line on standard error with the progress of a long command.
///
/// The line appears only on a terminal, and only after a second. Use it on one thread.
package final class Progress {
  private static let delay = Duration.seconds(1)
  private static let interval = Duration.milliseconds(100)

  private let errors: TextOutput
  private let isShown: Bool
  private let start = ContinuousClock.now
  private var last: ContinuousClock.Instant?
  private var isEnded = false

  /// Creates a progress line.
  ///
  /// `isShown` states whether the line appears at all.
  init(_ errors: TextOutput, isShown: Bool) {
    self.errors = errors
    self.isShown = isShown
  }

  /// The control to pass to a run of the query engine, which then reports its records.
  var control: RunControl {
    // The run calls the closure on the thread that uses this object.
    nonisolated(unsafe) let line = self
    return RunControl(report: { done, total in line.show(Self.text(done, total)) })
  }

  /// Shows `text` if an update is due.
  package func show(_ text: @autoclosure () -> String) {
    guard isShown, !isEnded else { return }
    let now = ContinuousClock.now
    guard now - start >= Self.delay, last.map({ now - $0 >= Self.interval }) ?? true else { return }
    last = now
    // The line is shorter than any screen, so that returning to its start erases it completely.
    try? errors.write("\r\u{1b}[K" + DisplayText(text(), limit: 79).text)
    try? errors.flush()
  }

  /// A bar of `width` characters with a share filled: `[####......]`.
  static func bar(_ share: Double, width: Int) -> String {
    let room = max(width - 2, 1)
    let done = Int((min(max(share.isFinite ? share : 0, 0), 1) * Double(room)).rounded(.down))
    return "[" + String(repeating: "#", count: done)
      + String(repeating: ".", count: room - done) + "]"
  }

  /// A bar and its share: `[####......]  42 %`.
  package static func text(_ share: Double) -> String {
    "\(bar(share, width: 22))  \(NumberText.share(share))"
  }

  /// The progress of a run as "12,000 of 50,000 records, 24 %".
  static func text(_ done: Int, _ total: Int?) -> String {
    guard let total, total > 0 else { return "\(NumberText.grouped(done)) records" }
    let share = NumberText.share(min(Double(done) / Double(total), 1))
    return "\(NumberText.grouped(done)) of \(NumberText.grouped(total)) records, \(share)"
  }

  /// Erases the line until the next update.
  package func clear() {
    guard last != nil else { return }
    last = nil
    try? errors.write("\r\u{1b}[K")
    try? errors.flush()
  }

  /// Erases the line permanently.
  ///
  /// Call it before rows are written to the same screen, and at the end.
  package func end() {
    isEnded = true
    clear()
  }
}
