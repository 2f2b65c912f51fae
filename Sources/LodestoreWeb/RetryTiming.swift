internal import Foundation

/// When a request is made again.
struct RetryTiming: Sendable {
  /// Measures the waits.
  var clock: any Clock<Duration> = ContinuousClock()
  /// What `Retry-After` is compared with, in seconds since 1970.
  var now: @Sendable () -> Double = { Date().timeIntervalSince1970 }
  /// A random number from 0 to 1.
  var fraction: @Sendable () -> Double = { .random(in: 0...1) }

  func sleep(for duration: Duration) async throws { try await clock.sleep(for: duration) }

  /// The wait before a retry, counted from 1: drawn below a bound that doubles, and no shorter
  /// than the service asks for, all up to `longest`.
  func wait(
    beforeRetry retry: Int, asked: Duration?, first: Duration, longest: Duration
  ) -> Duration {
    let longest = longest.bounded
    var bound = min(first.bounded, longest)
    var doublings = retry - 1
    while doublings > 0, bound > .zero, bound < longest {
      bound = min(bound * 2, longest)
      doublings -= 1
    }
    return min(max(bound * min(max(fraction(), 0), 1), asked ?? .zero), longest)
  }

  /// What a header field `Retry-After` asks for, seconds or a date: RFC 9110, 10.2.3.
  func asked(_ field: String?) -> Duration? {
    guard let text = field?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
    if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      return Duration.seconds(Int(text) ?? Int(Int32.max)).bounded
    }
    guard let date = HTTPDate.seconds(text) else { return nil }
    return Duration.seconds(max(Double(date) - now(), 0)).bounded
  }
}
