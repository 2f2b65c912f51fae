internal import Synchronization

/// A running refresh of this process, for which any number of callers wait.
///
/// A cancelled caller stops waiting. When the last one stops, the refresh is cancelled. A lock
/// guards the state.
final class RefreshRun: Sendable {
  private typealias Caller = CheckedContinuation<RefreshReport?, any Error>

  private struct State {
    var task: Task<Void, Never>?
    /// The callers by number; `nil` for a caller that is registered but does not wait yet.
    var callers: [Int: Caller?] = [:]
    var last = 0
    var isClosed = false
    /// Whether the refresh was cancelled because the task of its last caller was cancelled.
    var isGivenUp = false
    var result: Result<RefreshReport, any Error>?
    var observers: [Int: @Sendable (RefreshProgress) -> Void] = [:]
  }

  private let state = Mutex(State())

  /// Whether the refresh accepts no further callers.
  var hasEnded: Bool { state.withLock { $0.isClosed } }

  /// The number of callers that wait for the refresh.
  var callerCount: Int { state.withLock { $0.callers.count } }

  /// Reports the progress to all callers.
  func report(_ progress: RefreshProgress) {
    for observer in state.withLock({ $0.observers.values.map { $0 } }) { observer(progress) }
  }

  /// Begins the work with the first caller, and waits for its end.
  ///
  /// A call after the end gets the result at once.
  ///
  /// - Returns: `nil` if the refresh was cancelled before the call. The caller must begin another
  ///   one.
  /// - Throws: The error of the work; `CancellationError` if the caller's task is cancelled.
  func value(
    _ onProgress: (@Sendable (RefreshProgress) -> Void)?,
    _ work: @escaping @Sendable (RefreshRun) async throws -> RefreshReport
  ) async throws -> RefreshReport? {
    let ended = state.withLock { $0.isGivenUp ? nil : $0.result }
    if let ended { return try ended.get() }
    let number = state.withLock { state -> Int? in
      guard !state.isClosed else { return nil }
      state.last += 1
      state.callers.updateValue(nil, forKey: state.last)
      state.observers[state.last] = onProgress
      if state.task == nil {
        state.task = Task { [self] in
          do {
            end(.success(try await work(self)))
          } catch {
            end(.failure(error))
          }
        }
      }
      return state.last
    }
    guard let number else { return nil }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { caller in
        let result = state.withLock { state -> Result<RefreshReport?, any Error>? in
          if let result = state.result { return result.map { $0 } }
          guard state.callers[number] != nil else { return .failure(CancellationError()) }
          state.callers.updateValue(caller, forKey: number)
          return nil
        }
        if let result { caller.resume(with: result) }
      }
    } onCancel: {
      removeCaller(number)
    }
  }

  /// Ends the refresh.
  ///
  /// All callers get the error.
  func stop(_ error: DatasetError) {
    let task = state.withLock { $0.task }
    end(.failure(error))
    task?.cancel()
  }

  private func end(_ result: Result<RefreshReport, any Error>) {
    let callers = state.withLock { state -> [Caller] in
      guard state.result == nil else { return [] }
      state.result = result
      state.isClosed = true
      defer { (state.callers, state.observers) = ([:], [:]) }
      return state.callers.values.compactMap { $0 }
    }
    for caller in callers { caller.resume(with: result.map { $0 }) }
  }

  private func removeCaller(_ number: Int) {
    let (caller, task) = state.withLock { state -> (Caller?, Task<Void, Never>?) in
      guard let caller = state.callers[number] else { return (nil, nil) }
      guard state.callers.count > 1 else {
        // The last caller, which was cancelled, waits for the end of the refresh's work, so that no
        // work continues after its call has returned.
        (state.isClosed, state.isGivenUp) = (true, true)
        return (nil, state.task)
      }
      state.callers[number] = nil
      state.observers[number] = nil
      return (caller, nil)
    }
    task?.cancel()
    caller?.resume(throwing: CancellationError())
  }
}
