import EntityStore

/// The progress line of runs of the query engine.
///
/// For one thread: a run reports on the thread that it runs on.
final class RunProgress {
  private var progress: Progress
  private var isEnded = false

  init(_ progress: Progress) {
    self.progress = progress
  }

  /// What a run is to be given.
  var control: RunControl {
    // Not shared between threads, see above.
    nonisolated(unsafe) let line = self
    return RunControl(report: { done, total in line.show(done, total) })
  }

  private func show(_ done: Int, _ total: Int?) {
    guard !isEnded else { return }
    progress.show(Self.text(done, total))
  }

  /// Takes the line away for good: before rows go to the same screen, and at the end.
  func end() {
    isEnded = true
    progress.end()
  }

  /// "12,000 of 50,000 records, 24 %".
  static func text(_ done: Int, _ total: Int?) -> String {
    guard let total, total > 0 else { return "\(NumberText.grouped(done)) records" }
    let share = NumberText.share(min(Double(done) / Double(total), 1))
    return "\(NumberText.grouped(done)) of \(NumberText.grouped(total)) records, \(share)"
  }
}
