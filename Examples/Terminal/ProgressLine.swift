import Synchronization

/// A line that shows the progress of some work, its speed and the remaining time.
///
///     let progress = ProgressLine("fetch", unit: "items", on: terminal)
///     let items = try await store.fetch(query) { progress.show($0.completed, of: $0.total) }
///     progress.finish()
///
/// Any thread may call ``show(_:of:)``, as often as it likes: a terminal is redrawn about ten times
/// a second at most. If the output is not a terminal, only the last line is written.
public final class ProgressLine: Sendable {
  private struct State {
    var completed = 0
    var total: Int?
    var drawnAt: Duration?
    var isFinished = false
  }

  private let title: String
  private let unit: String
  private let terminal: Terminal
  private let elapsed: @Sendable () -> Duration
  private let state = Mutex(State())

  /// Makes a line for work that begins now.
  ///
  /// - Parameter elapsed: Returns the time since the beginning; by default measured by a clock.
  public init(
    _ title: String, unit: String = "records", on terminal: Terminal,
    elapsed: (@Sendable () -> Duration)? = nil
  ) {
    self.title = title
    self.unit = unit
    self.terminal = terminal
    let start = ContinuousClock.now
    self.elapsed = elapsed ?? { ContinuousClock.now - start }
  }

  /// Shows that `completed` of `total` units are done; `total` is `nil` if it is unknown.
  public func show(_ completed: Int, of total: Int?) {
    state.withLock { state in
      state.completed = completed
      state.total = total
      let now = elapsed()
      guard terminal.isInteractive, !state.isFinished else { return }
      if let drawnAt = state.drawnAt, now - drawnAt < .milliseconds(100) { return }
      state.drawnAt = now
      draw(Self.running(title, completed, total, unit, now))
    }
  }

  /// Writes the last line: the number of units, the time and the rate.
  ///
  /// - Parameter ending: A text that replaces the rate, for example "cancelled".
  public func finish(_ ending: String? = nil) {
    state.withLock { state in
      guard !state.isFinished else { return }
      state.isFinished = true
      let line = Self.ended(title, state.completed, unit, elapsed(), ending)
      draw(line)
      terminal.write("\n")
    }
  }

  private func draw(_ line: String) {
    let start = terminal.isInteractive ? "\r\u{1B}[2K" : ""
    terminal.write(start + (terminal.isInteractive ? line.cut(to: terminal.width - 1) : line))
  }

  static func running(
    _ title: String, _ completed: Int, _ total: Int?, _ unit: String, _ elapsed: Duration
  ) -> String {
    let rate = Double(completed) / max(elapsed.seconds, 0.001)
    let speed = "\(Int(rate).grouped) \(unit)/s"
    guard let total, total > 0 else { return "\(title)  \(completed.grouped)  \(speed)" }
    let fraction = min(Double(completed) / Double(total), 1)
    let filled = Int(fraction * 24)
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 24 - filled)
    let left =
      rate > 0 && completed < total
      ? "  \(Duration.seconds(Double(total - completed) / rate).short) left" : ""
    return "\(title)  \(bar) \(Int(fraction * 100)) %  \(speed)\(left)"
  }

  static func ended(
    _ title: String, _ completed: Int, _ unit: String, _ elapsed: Duration, _ ending: String?
  ) -> String {
    let rate = Int(Double(completed) / max(elapsed.seconds, 0.000_001))
    let what = "\(title)  \(completed.grouped) \(unit) in \(elapsed.short)"
    return ending.map { "\(what), \($0)" } ?? "\(what), \(rate.grouped) a second"
  }
}
