internal import LMDB

/// Calls a closure once, after a time; one closure at a time.
final class Alarm: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    var deadline: ContinuousClock.Instant?
    var isEnded = false
  }

  private let state = Guarded(State())

  deinit { state.withLock { $0.task }?.cancel() }

  /// Calls `body` after `delay`; an earlier call that is set already takes precedence.
  func set(after delay: Duration, _ body: @escaping @Sendable () async -> Void) {
    let deadline = ContinuousClock.now.advanced(by: delay)
    let before = state.withLock { state -> Task<Void, Never>? in
      if state.isEnded { return nil }
      if let earlier = state.deadline, earlier <= deadline { return nil }
      let before = state.task
      state.deadline = deadline
      state.task = Task.detached { [weak self] in
        do {
          try await Task.sleep(until: deadline, clock: .continuous)
        } catch {
          return
        }
        self?.ring()
        await body()
      }
      return before
    }
    before?.cancel()
  }

  /// The closure may set the alarm again.
  private func ring() {
    state.withLock { state in
      state.task = nil
      state.deadline = nil
    }
  }

  /// Calls nothing from now on.
  func end() {
    let task = state.withLock { state in
      state.isEnded = true
      defer { state.task = nil }
      return state.task
    }
    task?.cancel()
  }
}
