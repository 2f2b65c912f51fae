/// The waits between repetitions of a call that failed in passing.
package enum StorageWait {
  /// Waits by the system's clock: see ``longest(after:)``.
  ///
  /// Up to half of the time is left out at random, so that many processes do not call at once. The
  /// wait is never shorter than the storage asks for.
  package static let standard: @Sendable (Int, Duration?) async throws -> Void = {
    failures, asked in
    try await ReplicaClock.system.wait(after: failures, asked)
  }

  /// The longest wait: 100 ms after the first failure, twice as long after each further one, and at
  /// most 6.4 s.
  static func longest(after failures: Int) -> Duration {
    .milliseconds(100 << min(max(failures - 1, 0), 6))
  }
}
