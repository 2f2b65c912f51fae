/// The waits between repetitions of a call that failed in passing.
package enum StorageWait {
  /// Waits by the system's clock: see ``longest(after:)``.
  ///
  /// Up to half of the time is left out at random, so that many processes do not call at once. The
  /// wait is not shorter than the storage asks for, up to ``longestAsked``.
  package static let standard: @Sendable (Int, Duration?) async throws -> Void = {
    failures, asked in
    try await ReplicaClock.system.wait(after: failures, asked)
  }

  /// The longest wait that a storage can ask for.
  ///
  /// A service or a proxy with a wrong clock may ask for years. A writer would then send nothing,
  /// although the service works again.
  static let longestAsked = Duration.seconds(300)

  /// The longest wait: 100 ms after the first failure, twice as long after each further one, and at
  /// most 6.4 s.
  static func longest(after failures: Int) -> Duration {
    .milliseconds(100 << min(max(failures - 1, 0), 6))
  }
}
