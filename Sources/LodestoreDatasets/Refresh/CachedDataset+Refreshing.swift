internal import EntityStore
internal import Foundation
internal import LodestoreWeb

extension CachedDataset {
  /// Requests the newest generation from the origin and makes it current.
  ///
  /// One process at a time refreshes a folder. If another process is refreshing the folder, a call
  /// waits for that refresh, and then has nothing left to do. Calls of one process share one
  /// refresh. Readers are not blocked.
  ///
  /// After failures the folder stores a time before which no refresh begins, which also applies to
  /// later processes.
  ///
  /// - Parameters:
  ///   - now: Whether to refresh even before that time.
  ///   - onProgress: Called from the tasks that do the work, one call at a time for each step.
  /// - Returns: The result; see ``RefreshReport/Outcome``.
  /// - Throws: ``DatasetError``. The current generation stays unchanged, and ``status`` shows the
  ///   failure until a refresh succeeds. `CancellationError` if the task of the last caller is
  ///   cancelled. Fetched data is kept, and the next refresh continues with it.
  @discardableResult
  public func refresh(
    now: Bool = false, onProgress: (@Sendable (RefreshProgress) -> Void)? = nil
  ) async throws -> RefreshReport {
    if case .none = origin.form { throw DatasetError.noOrigin(name) }
    while true {
      // A refresh that was cancelled meanwhile accepts no further callers; a new one is then begun.
      if let report = try await wait(for: run { RefreshRun() }, now: now, onProgress) {
        return report
      }
    }
  }

  /// Waits for the end of a refresh, which the first caller begins; `nil` if the refresh was
  /// cancelled before this call.
  func wait(
    for run: RefreshRun, now: Bool = false,
    _ onProgress: (@Sendable (RefreshProgress) -> Void)? = nil
  ) async throws -> RefreshReport? {
    try await run.value(onProgress) { [self] run in
      try await refreshAlone(now: now) { run.report($0) }
    }
  }

  /// Refreshes while holding the lock shared by all processes.
  private func refreshAlone(
    now isForced: Bool, _ report: @escaping @Sendable (RefreshProgress) -> Void
  ) async throws -> RefreshReport {
    // The clock is read once for the whole refresh, so that all stored times agree even if the
    // clock is set meanwhile.
    let began = options.clock()
    let countBefore = try content.state().refreshCount
    let lock = try await lockFolder()
    defer { withExtendedLifetime(lock) {} }
    options.onStep(.locked)
    var state = try content.state()
    if state.refreshCount != countBefore, state.failureCount == 0 {
      forget()
      return RefreshReport(outcome: .elsewhere, generation: try loaded().choice.open?.number ?? 0)
    }
    state = memory.completed(state)
    if !isForced, isWaiting(state, at: began), let next = state.nextAttempt {
      throw DatasetError.waiting(name, until: next, after: state.lastFailure?.message)
    }
    state.latestTime = max(state.latestTime ?? began, began)
    state.trust.endForgetting(at: began)
    let before = state
    var hasObtained = false
    do {
      try content.folder.make()
      let result = try await obtain(&state, at: began, isForced, report)
      hasObtained = true
      state.refreshCount &+= 1
      (state.failureCount, state.nextAttempt, state.lastFailure) = (0, nil, nil)
      state.lastChecked = began
      try state.write(content.folder)
      memory.forget()
      options.onStep(.swapped)
      ended(state, result.open)
      return result.report
    } catch {
      // Only the cancellation of this task counts. A cancellation error that the importer throws is
      // an ordinary failure.
      if Task.isCancelled { throw CancellationError() }
      let error = error as? DatasetError ?? .importFailed(error)
      // If writing the state failed, the obtained generation has not become current, so the state
      // from before it is used.
      if hasObtained { state = before }
      state.refreshCount &+= 1
      state.failureCount += 1
      state.lastFailure = CacheState.Failure(
        code: error.code.description, message: error.message, date: began)
      let cause = error.cause as? WebSourceError
      var wait = backoff.wait(afterFailures: state.failureCount, serverWait: cause?.retryAfter)
      // Long waits spare overloaded servers. Without a connection no server was reached, so the
      // wait is shortened.
      if cause?.code == .noConnection { wait = min(wait, Self.longestOfflineWait) }
      state.nextAttempt = began.addingTimeInterval(wait.inSeconds)
      // Even if the state with this failure cannot be written, the caller gets the failure, and
      // this process remembers the wait.
      do {
        try state.write(content.folder)
        memory.forget()
      } catch {
        memory.keep(state)
      }
      ended(state, nil)
      throw error
    }
  }

  /// The maximum wait after a refresh without a connection.
  static let longestOfflineWait = Duration.seconds(300)

  /// The waits after failures.
  var backoff: Backoff {
    Backoff(first: options.firstWait, longest: options.longestWait, fraction: options.fraction)
  }

  /// Whether a refresh must wait because the last one failed.
  func isWaiting(_ state: CacheState, at now: Date) -> Bool {
    backoff.isWaiting(for: state.nextAttempt, at: now, after: state.lastFailure?.date)
  }

  private func obtain(
    _ state: inout CacheState, at time: Date, _ isForced: Bool,
    _ report: @escaping @Sendable (RefreshProgress) -> Void
  ) async throws -> Refreshed {
    report(RefreshProgress(step: .checking, completed: 0, total: nil))
    let installer = Installer(content: content, onStep: options.onStep)
    let choice = try loaded().choice
    switch origin.form {
    case .none: throw DatasetError.noOrigin(name)
    case .published(let mirrors, let keys):
      let refresh = PublishedRefresh(
        installer: installer, mirrors: mirrors, keys: keys, seed: choice.seed, options: options,
        time: time, isForced: isForced, report: report)
      return try await refresh.run(&state, choice)
    case .service(let fetch):
      let refresh = ServiceImport(installer: installer, fetch: fetch, time: time, report: report)
      return try await refresh.run(&state, choice)
    }
  }

  /// Starts using the new generation in this process, and removes old files that nobody reads.
  func ended(_ state: CacheState, _ open: OpenGeneration?) {
    adopt(open)
    _ = try? loaded()
    notifier.notify()
    content.removeOld(state, isSwapped: open != nil)
    options.onStep(.cleaned)
  }

  /// Takes the lock of the folder.
  ///
  /// If another process has it, waits for at most ``Options/lockWait``.
  func lockFolder() async throws -> FileLock {
    let start = ContinuousClock.now
    if SystemFile.stamp(of: content.folder.path) == nil { try content.folder.make() }
    while true {
      if let lock = try FileLock.exclusive(making: content.folder.refreshLock) { return lock }
      guard ContinuousClock.now - start < options.lockWait else {
        throw DatasetError.busy(name, for: options.lockWait)
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }
}
