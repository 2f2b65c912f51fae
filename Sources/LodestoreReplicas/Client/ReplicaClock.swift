#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The time, the random waits and the threads of writers, followers and restores.
///
/// A simulation passes its own clock with the storage. Without a clock of its own, two runs would
/// never take the same steps.
struct ReplicaClock: Sendable {
  typealias Instant = ContinuousClock.Instant

  /// Returns the time of the calendar, in seconds since the reference date.
  var now: @Sendable () -> Double
  /// Returns a time that never falls, to measure intervals.
  var instant: @Sendable () -> Instant
  /// Waits for a duration; throws if the task is cancelled.
  var sleep: @Sendable (Duration) async throws -> Void
  /// Returns a random number in a range, so that many processes do not wait equally long.
  var random: @Sendable (ClosedRange<Double>) -> Double
  /// The executor of tasks in the background; `nil` for the global one.
  var executor: (any TaskExecutor)?
  /// Whether the system reports the commits of other processes.
  var watchesFiles = true

  /// The clocks of the system.
  static let system = ReplicaClock(
    now: { Date().timeIntervalSinceReferenceDate }, instant: { .now },
    sleep: { try await Task.sleep(for: $0) }, random: { .random(in: $0) })

  /// The time of the calendar.
  var date: Date { Date(timeIntervalSinceReferenceDate: now()) }

  /// The time since an instant.
  func elapsed(since start: Instant) -> Duration { start.duration(to: instant()) }

  /// Waits after a failure, whose number counts from 1.
  ///
  /// See ``StorageWait/longest(after:)``. The wait is not shorter than the storage asks for, up to
  /// ``StorageWait/longestAsked``.
  func wait(after failures: Int, _ asked: Duration?) async throws {
    let longest = StorageWait.longest(after: failures)
    let least = min(asked ?? .zero, StorageWait.longestAsked)
    try await sleep(max(longest * random(0.5...1), least))
  }
}
