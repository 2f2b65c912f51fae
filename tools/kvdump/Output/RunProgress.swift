import EntityStore

/// The progress line of runs of the query engine.
///
/// Use it on one thread: a run reports on its own thread.
final class RunProgress {
  private var progress: Progress
  private var isEnded = false

  init(_ progress: Progress) { self.progress = progress }

  /// The control to pass to a run.
  var control: RunControl {
    // The run calls the closure on the thread that uses this object.
    nonisolated(unsafe) let line = self
    return RunControl(report: { done, total in line.show(done, total) })
  }

  private func show(_ done: Int, _ total: Int?) {
    guard !isEnded else { return }
    progress.show(Self.text(done, total))
  }

  /// Erases the line permanently.
  ///
  /// Call it before rows are written to the same screen, and at the end.
  func end() {
    isEnded = true
    progress.end()
  }

  /// The progress as "12,000 of 50,000 records, 24 %".
  static func text(_ done: Int, _ total: Int?) -> String {
    guard let total, total > 0 else { return "\(NumberText.grouped(done)) records" }
    let share = NumberText.share(min(Double(done) / Double(total), 1))
    return "\(NumberText.grouped(done)) of \(NumberText.grouped(total)) records, \(share)"
  }
}
