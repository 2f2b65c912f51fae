extension CachedDataset {
  /// Returns the generation to use according to a policy.
  ///
  ///     let pods = try await dataset.read(.freshElseCache)
  ///     print(pods.age, pods.refreshError?.message ?? "")
  ///
  /// - Throws: ``DatasetError`` as ``current()``. ``ReadPolicy/freshOnly`` also throws the error of
  ///   the refresh. The other policies that refresh throw its error only if the cache is empty.
  ///   `CancellationError` if the task is cancelled.
  public func read(_ policy: ReadPolicy = .cacheThenRefresh) async throws -> DatasetGeneration {
    switch policy {
    case .cacheOnly: return try current()
    case .cacheThenRefresh:
      guard hasGeneration else {
        try await refreshIfDue(within: options.checkInterval)
        return try current()
      }
      do {
        let generation = try current()
        if isDue(after: options.checkInterval) { refreshInBackground() }
        return generation
      } catch let error as DatasetError where error.code == .tooOld {
        // If ``Options/refusesOlder(than:)`` refuses the existing data as too old, the policy acts
        // as if there were no data.
        try await refreshIfDue(within: options.freshFor)
        return try current()
      }
    case .freshElseCache:
      do {
        if hasGeneration {
          if isDue(after: options.freshFor) { try await refresh(atMost: options.freshWait) }
        } else {
          try await refresh()
        }
        return try current()
      } catch let error as DatasetError where error.code != .tooOld {
        guard hasGeneration else { throw error }
        var generation = try current()
        generation.refreshError = error
        return generation
      }
    case .freshOnly:
      try await refreshIfDue(within: options.freshFor)
      return try current()
    }
  }

  private var hasGeneration: Bool { (try? anyAge()) != nil }

  private func refreshIfDue(within interval: Duration) async throws {
    if isDue(after: interval) || !hasGeneration { try await refresh() }
  }

  /// Refreshes, and waits no longer than a limit.
  ///
  /// After the limit, the refresh continues in the background.
  private func refresh(atMost limit: Duration) async throws {
    if case .none = origin.form { throw DatasetError.noOrigin(name) }
    let run = run { RefreshRun() }
    // A refresh is cancelled when its last caller stops waiting. This task keeps waiting, so that
    // the refresh continues after the limit.
    let kept = Task { [self] in _ = try? await wait(for: run) }
    do {
      let hasEnded = try await withThrowingTaskGroup(of: Bool.self) { group in
        group.addTask { [self] in
          if try await wait(for: run) == nil { try await refresh() }
          return true
        }
        group.addTask {
          try await Task.sleep(for: limit)
          return false
        }
        defer { group.cancelAll() }
        return try await group.next() ?? false
      }
      guard hasEnded else { throw DatasetError.notYetFresh(name, after: limit) }
    } catch {
      if Task.isCancelled { kept.cancel() }
      throw error
    }
  }

  /// Whether the last successful check is longer ago than an interval, or at an unknown time.
  func isDue(after interval: Duration) -> Bool {
    guard let state = try? loaded().state, let checked = state.lastChecked else { return true }
    let now = options.clock()
    // If the last check is in the future, the clock was set back. The time since the check is then
    // unknown, so a check is due.
    guard checked <= now else { return true }
    return now.timeIntervalSince(checked) >= interval.inSeconds
  }

  /// Begins a refresh that nobody waits for.
  ///
  /// ``status`` shows its failure.
  private func refreshInBackground() {
    if case .none = origin.form { return }
    if let state = try? loaded().state, isWaiting(memory.completed(state), at: options.clock()) {
      return
    }
    Task.detached(priority: .utility) { [weak self] in _ = try? await self?.refresh() }
  }

  // MARK: Background refreshes

  /// Refreshes in the background at an interval, as long as the dataset is referenced.
  ///
  /// All processes with the same folder share one schedule, which counts from the last check of any
  /// of them. After failures the waits become longer, and ``status`` shows the failure.
  ///
  /// - Parameter interval: The time between checks; ``Options/checkInterval`` if it is `nil`.
  public func keepFresh(every interval: Duration? = nil) {
    if case .none = origin.form { return }
    let interval = interval ?? options.checkInterval
    let fraction = options.fraction
    replaceKeeper(
      Task.detached(priority: .utility) { [weak self] in
        while !Task.isCancelled {
          guard let wait = await self?.checkInBackground(every: interval) else { return }
          // The wait varies by a tenth, so that many programs that began at one time do not send
          // their requests at one time.
          let jitter = 0.9 + 0.2 * min(max(fraction(), 0), 1)
          guard (try? await Task.sleep(for: wait * jitter)) != nil else { return }
        }
      })
  }

  /// Ends ``keepFresh(every:)`` and a refresh that it began.
  public func stopKeepingFresh() { replaceKeeper(nil) }

  /// Refreshes if a check is due, and returns the wait until the next one.
  private func checkInBackground(every interval: Duration) async -> Duration {
    var wait = interval.inSeconds
    var least = 1.0
    if isDue(after: interval) {
      do {
        try await refresh()
      } catch {
        // After a failure the wait has at least this length, even if no time for the next attempt
        // was stored, as after a failure to lock the folder.
        least = max(options.firstWait.inSeconds, 1)
      }
    }
    guard let known = try? loaded().state else { return max(interval, .seconds(60)) }
    let state = memory.completed(known)
    let now = options.clock()
    if let checked = state.lastChecked, checked <= now {
      wait -= now.timeIntervalSince(checked)
    }
    if let next = state.nextAttempt, isWaiting(state, at: now) {
      (wait, least) = (max(wait, next.timeIntervalSince(now)), 1)
    }
    return .seconds(min(max(wait, least), 86_400))
  }
}

extension Duration {
  var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
