/// A line on standard error that tells how far a long command is; only on a terminal, and only when
/// it takes longer than a second.
struct Progress {
  private static let delay = Duration.seconds(1)
  private static let interval = Duration.milliseconds(100)

  private let errors: TextOutput
  private let isShown: Bool
  private let start = ContinuousClock.now
  private var last: ContinuousClock.Instant?

  /// `isShown` is whether there is somebody to see it.
  init(_ errors: TextOutput, isShown: Bool) {
    self.errors = errors
    self.isShown = isShown
  }

  /// Shows `text` when it is time to.
  mutating func show(_ text: @autoclosure () -> String) {
    guard isShown else { return }
    let now = ContinuousClock.now
    guard now - start >= Self.delay, last.map({ now - $0 >= Self.interval }) ?? true else { return }
    last = now
    // The line is cut short of any screen, so that going back to its start takes it all away.
    try? errors.write("\r\u{1b}[K" + DisplayText(text(), limit: 79).text)
    try? errors.flush()
  }

  /// A bar of `width` characters of which a share is done: `[####......]`.
  static func bar(_ share: Double, width: Int) -> String {
    let room = max(width - 2, 1)
    let done = Int((min(max(share.isFinite ? share : 0, 0), 1) * Double(room)).rounded(.down))
    return "[" + String(repeating: "#", count: done)
      + String(repeating: ".", count: room - done) + "]"
  }

  /// A bar and the share of it that is done: `[####......]  42 %`.
  static func text(_ share: Double) -> String {
    "\(bar(share, width: 22))  \(NumberText.share(share))"
  }

  /// Takes the line away.
  mutating func end() {
    guard last != nil else { return }
    last = nil
    try? errors.write("\r\u{1b}[K")
    try? errors.flush()
  }
}
