/// A line on standard error with the progress of a long command.
///
/// The line appears only on a terminal, and only after a second.
package struct Progress {
  private static let delay = Duration.seconds(1)
  private static let interval = Duration.milliseconds(100)

  private let errors: TextOutput
  private let isShown: Bool
  private let start = ContinuousClock.now
  private var last: ContinuousClock.Instant?

  /// Creates a progress line.
  ///
  /// `isShown` states whether the line appears at all.
  init(_ errors: TextOutput, isShown: Bool) {
    self.errors = errors
    self.isShown = isShown
  }

  /// Shows `text` if an update is due.
  package mutating func show(_ text: @autoclosure () -> String) {
    guard isShown else { return }
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

  /// Erases the line.
  package mutating func end() {
    guard last != nil else { return }
    last = nil
    try? errors.write("\r\u{1b}[K")
    try? errors.flush()
  }
}
