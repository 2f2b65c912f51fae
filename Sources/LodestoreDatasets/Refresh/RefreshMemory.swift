internal import Foundation
internal import Synchronization

/// Facts about refreshes that this process could not write to the folder's state, for example on a
/// full disk.
///
/// A lock guards it.
final class RefreshMemory: Sendable {
  /// A failure that could not be written.
  private struct Failure: Sendable {
    var count: Int
    var nextAttempt: Date?
    var last: CacheState.Failure?
  }

  private let failure = Mutex<Failure?>(nil)

  /// Stores the failures of a state that could not be written.
  func keep(_ state: CacheState) {
    failure.withLock {
      $0 = Failure(
        count: state.failureCount, nextAttempt: state.nextAttempt, last: state.lastFailure)
    }
  }

  /// Removes the stored failures, because a written state has all of them.
  func forget() { failure.withLock { $0 = nil } }

  /// The state with the failures of this process added that could not be written to it.
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
