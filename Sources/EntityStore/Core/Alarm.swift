internal import LMDB

/// A timer that calls one closure after a delay.
final class Alarm: Sendable {
  private struct State {
    var task: Task<Void, Never>?
    var deadline: ContinuousClock.Instant?
    var isEnded = false
  }

  private let state = Guarded(State())

  deinit { state.withLock { $0.task }?.cancel() }

  /// Sets a call of `body` after `delay`, unless an earlier call is already set.
  func set(after delay: Duration, _ body: @escaping @Sendable () async -> Void) {
    let deadline = ContinuousClock.now.advanced(by: delay)
    let before = state.withLock { state -> Task<Void, Never>? in
      if state.isEnded { return nil }
      if let earlier = state.deadline, earlier <= deadline { return nil }
      let before = state.task
      state.deadline = deadline
      state.task = Task.detached { [weak self] in
        do { try await Task.sleep(until: deadline, clock: .continuous) } catch { return }
        self?.ring()
        await body()
      }
      return before
    }
    before?.cancel()
  }

  /// The state is reset first, because the closure may set the alarm again.
  private func ring() {
    state.withLock { state in
      state.task = nil
      state.deadline = nil
    }
  }

  /// Cancels a set call, and makes later calls of ``set(after:_:)`` do nothing.
  func end() {
    let task = state.withLock { state in
      state.isEnded = true
      defer { state.task = nil }
      return state.task
    }
    task?.cancel()
  }
}
