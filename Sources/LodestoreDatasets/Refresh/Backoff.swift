internal import Foundation

/// The waits after refreshes that have failed.
struct Backoff: Sendable {
  /// The maximum wait that a server may ask for: a week.
  static let longestServerWait = Duration.seconds(7 * 86_400)

  var first: Duration
  var longest: Duration
  /// A random number from 0 to 1.
  var fraction: @Sendable () -> Double

  /// The wait after a number of consecutive failures, at least as long as the server asks for.
  ///
  /// The wait is a random time between half of a bound and the bound, which doubles with each
  /// failure.
  func wait(afterFailures count: Int, serverWait: Duration?) -> Duration {
    var bound = max(first, .milliseconds(1))
    var doublings = max(count, 1) - 1
    while doublings > 0, bound < longest {
      bound = bound * 2
      doublings -= 1
    }
    bound = min(bound, max(longest, .zero))
    let drawn = bound * (0.5 + 0.5 * min(max(fraction(), 0), 1))
    return max(drawn, min(serverWait ?? .zero, Self.longestServerWait))
  }

  /// Whether a refresh must wait until `next`.
  ///
  /// A time beyond every possible wait comes from a clock that was set back, and is ignored. If the
  /// last failure is in the future, the clock was also set back, and `next` is ignored.
  func isWaiting(for next: Date?, at now: Date, after failure: Date? = nil) -> Bool {
    guard let next, next > now else { return false }
    if let failure, failure.timeIntervalSince(now) > 60 { return false }
    return next.timeIntervalSince(now) <= max(longest, Self.longestServerWait).inSeconds + 60
  }
}
