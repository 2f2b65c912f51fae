internal import Foundation
internal import Synchronization

/// What this process knows of refreshes beyond the folder's state, which a full disk keeps as it
/// was.
///
/// Guarded by its lock.
final class RefreshMemory: Sendable {
  /// A failure that could not be written down.
  private struct Failure: Sendable {
    var count: Int
    var nextAttempt: Date?
    var last: CacheState.Failure?
  }

  private let failure = Mutex<Failure?>(nil)

  /// Keeps the failures of a state that could not be written.
  func keep(_ state: CacheState) {
    failure.withLock {
      $0 = Failure(
        count: state.failureCount, nextAttempt: state.nextAttempt, last: state.lastFailure)
    }
  }

  /// Forgets them: a state that is written has all.
  func forget() { failure.withLock { $0 = nil } }

  /// The state with the failures of this process that it lacks.
  func completed(_ state: CacheState) -> CacheState {
    guard let failure = failure.withLock({ $0 }), failure.count > state.failureCount else {
      return state
    }
    var state = state
    state.failureCount = failure.count
    state.nextAttempt = failure.nextAttempt
    state.lastFailure = failure.last
    return state
  }
}
