internal import LMDB

/// Collects decoded pages and commits them in groups.
///
/// One group at a time is written on the writer's thread while the next one is being decoded. This
/// object holds at most two groups: adding to a full group waits until the previous group is
/// written. Pages that are being decoded are in memory in addition.
actor ImportCommitter {
  private let engine: ImportEngine
  /// The maximum duration of a group, whatever the options set; a longer one would overflow the
  /// clock.
  private static let longestWait = Duration.seconds(31_536_000)

  private let onEvent: (@Sendable (ImportEvent) -> Void)?
  private let start = ContinuousClock.now
  /// The state as of the last commit.
  private var state: ImportState
  private var pending = ImportGroup()
  private var writing: Task<Void, any Error>?
  /// The number of groups passed to the writer.
  private var groupCount = 0
  private var timer: Task<Void, Never>?
  private var progress = ImportProgress()
  /// The decoding time of the pending pages.
  private var decodingSeconds = 0.0
  /// The duration of the earlier runs that this run resumes, in seconds.
  private let earlierSeconds: Double

  init(_ engine: ImportEngine, _ state: ImportState, onEvent: (@Sendable (ImportEvent) -> Void)?) {
    self.engine = engine
    self.state = state
    self.onEvent = onEvent
    earlierSeconds = state.report.seconds
  }

  /// Adds a page; waits while two groups are full.
  func add(_ page: DecodedPage, _ progress: ImportProgress) async throws {
    pending.append(page)
    decodingSeconds += page.decodingSeconds
    let committed = (self.progress.committed, self.progress.committedPages)
    self.progress = progress
    (self.progress.committed, self.progress.committedPages) = committed
    if pending.isFull(engine.options) {
      try await write()
    } else if timer == nil {
      timer = Task { [weak self, duration = min(engine.options.groupDuration, Self.longestWait)] in
        try? await Task.sleep(for: duration)
        guard !Task.isCancelled else { return }
        // A failed write throws its error when the next page is added.
        try? await self?.write()
      }
    }
  }

  /// Starts to write the pending pages after the previous group is written.
  private func write() async throws {
    let number = groupCount
    while let running = writing {
      try await running.value
      if writing == running { writing = nil }
      // Another caller waited for the same group and has started the next one.
      guard groupCount == number else { return }
    }
    timer?.cancel()
    timer = nil
    guard !pending.pages.isEmpty else { return }
    let group = pending
    pending = ImportGroup()
    groupCount += 1
    writing = Task { try await self.commit(group) }
  }

  private func commit(_ group: ImportGroup) async throws {
    let engine = engine
    var before = state
    before.report.decodingSeconds += decodingSeconds
    decodingSeconds = 0
    before.report.seconds = earlierSeconds + (ContinuousClock.now - start).inSeconds
    let begun = before
    let result = try await engine.core.onWriter { try engine.write(group, after: begun) }
    state = result.state
    progress.committed = state.report.records
    progress.committedPages = state.pages
    for reject in result.rejects { onEvent?(.rejected(reject)) }
    onEvent?(.committed(progress))
    if let stop = result.stop { throw stop }
  }

  private func writePending() async throws {
    try await write()
    while let running = writing {
      try await running.value
      if writing == running { writing = nil }
    }
  }

  // MARK: Ending the import

  /// Commits the remaining pages and the end of the import.
  func finish() async throws -> ImportReport {
    try await writePending()
    let engine = engine
    var last = state
    last.report.seconds = earlierSeconds + (ContinuousClock.now - start).inSeconds
    let end = last
    let report = try await engine.core.onWriter { try engine.end(end) }
    onEvent?(.finished(report))
    return report
  }

  /// Stops the import and throws `error`, or an earlier error of a write.
  ///
  /// The pages before the error are committed first, and so is the report.
  func stop(_ error: any Error) async throws -> Never {
    timer?.cancel()
    var cause = error
    do {
      if error is CancellationError { pending = ImportGroup() }
      try await writePending()
    } catch let writeError {
      // The write error is thrown instead of `error`, because it concerns an earlier page.
      cause = writeError
      pending = ImportGroup()
      writing = nil
    }
    var report = state.report
    report.seconds = earlierSeconds + (ContinuousClock.now - start).inSeconds
    report.ending = cause is CancellationError ? .cancelled : .failed
    if report.ending == .failed { report.failure = "\(cause)" }
    var stopped = state
    stopped.report = report
    let kept = stopped
    let engine = engine
    // The state stays in the store, so that the import can be resumed. An error while storing it is
    // ignored.
    _ = try? await engine.core.onWriter { try engine.note(kept) }
    throw cause
  }
}
