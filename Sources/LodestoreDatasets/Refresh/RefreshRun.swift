internal import Synchronization

/// A running refresh of this process, for which any number of callers wait.
///
/// The refresh is cancelled when the last caller is. Guarded by its lock.
final class RefreshRun: Sendable {
  private struct State {
    var task: Task<RefreshReport, any Error>?
    var waiting = 0
    var hasEnded = false
    var observers: [@Sendable (RefreshProgress) -> Void] = []
  }

  private let state = Mutex(State())

  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Tells all callers how far the refresh is.
  func report(_ progress: RefreshProgress) {
    for observer in state.withLock({ $0.observers }) { observer(progress) }
  }

  /// Begins the work with the first caller, and waits for its end.
  func value(
    _ onProgress: (@Sendable (RefreshProgress) -> Void)?,
    _ work: @escaping @Sendable (RefreshRun) async throws -> RefreshReport
  ) async throws -> RefreshReport {
    let task = state.withLock { state in
      state.waiting += 1
      if let onProgress { state.observers.append(onProgress) }
      if let task = state.task { return task }
      let task = Task { [self] in
        defer { self.state.withLock { $0.hasEnded = true } }
        return try await work(self)
      }
      state.task = task
      return task
    }
    let left = Atomic<Bool>(false)
    defer { leave(left) }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      leave(left)
    }
  }

  private func leave(_ left: borrowing Atomic<Bool>) {
    guard !left.exchange(true, ordering: .sequentiallyConsistent) else { return }
    state.withLock { state in
      state.waiting -= 1
      guard state.waiting == 0 else { return }
      state.hasEnded = true
      state.task?.cancel()
    }
  }
}
