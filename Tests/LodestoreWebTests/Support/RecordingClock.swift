import Synchronization

/// A clock on which every sleep ends at once, and which records the requested duration of each
/// sleep.
final class RecordingClock: Clock {
  typealias Instant = ContinuousClock.Instant

  private let state = Mutex((now: ContinuousClock.now, sleeps: [Duration]()))

  var now: Instant { state.withLock { $0.now } }
  var minimumResolution: Duration { .zero }

  /// The sleeps, in their order.
  var sleeps: [Duration] { state.withLock { $0.sleeps } }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try Task.checkCancellation()
    state.withLock { state in
      state.sleeps.append(state.now.duration(to: deadline))
      state.now = max(state.now, deadline)
    }
  }
}
