internal import Foundation

/// The times at which a request is repeated.
struct RetryTiming: Sendable {
  /// The clock that measures the waits.
  var clock: any Clock<Duration> = ContinuousClock()
  /// The time with which a date in `Retry-After` is compared, in seconds since 1970.
  var now: @Sendable () -> Double = { Date().timeIntervalSince1970 }
  /// A random number from 0 to 1.
  var fraction: @Sendable () -> Double = { .random(in: 0...1) }

  func sleep(for duration: Duration) async throws { try await clock.sleep(for: duration) }

  /// The wait before a retry, where the first retry has number 1.
  ///
  /// The wait is random, below a bound that doubles with each retry, and at most `longest`. The
  /// wait is at least as long as the service asks for.
  func wait(
    beforeRetry retry: Int, serverWait: Duration?, first: Duration, longest: Duration
  ) -> Duration {
    let longest = longest.bounded
    var bound = min(first.bounded, longest)
    var doublings = retry - 1
    while doublings > 0, bound > .zero, bound < longest {
      bound = min(bound * 2, longest)
      doublings -= 1
    }
    return min(max(bound * min(max(fraction(), 0), 1), serverWait ?? .zero), longest)
  }

  /// The wait that an answer asks for, by its fields with lowercase names.
  ///
  /// `Retry-After` takes precedence. Otherwise a rate limit with nothing remaining asks for the
  /// time until its reset. The time is read from `RateLimit` (`r` and `t`), or from
  /// `RateLimit-Remaining` and `RateLimit-Reset`; both may have the prefix `X-`. A reset of up to a
  /// year is in seconds from now, a larger number is in seconds since 1970.
  func serverWait(_ fields: [String: String]) -> Duration? {
    if let serverWait = serverWait(fields["retry-after"]) { return serverWait }
    if let limit = fields["ratelimit"] {
      let parameters = limit.split(whereSeparator: { $0 == ";" || $0 == "," }).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      guard parameters.contains("r=0") else { return nil }
      return parameters.first { $0.hasPrefix("t=") }.flatMap { reset(String($0.dropFirst(2))) }
    }
    for prefix in ["ratelimit-", "x-ratelimit-"] {
      guard let remaining = fields[prefix + "remaining"]?.trimmingCharacters(in: .whitespaces),
        Double(remaining) == 0, let reset = fields[prefix + "reset"]
      else { continue }
      return self.reset(reset.trimmingCharacters(in: .whitespaces))
    }
    return nil
  }

  private func reset(_ text: String) -> Duration? {
    guard let seconds = Double(text), seconds.isFinite, seconds >= 0 else { return nil }
    let year = 31_536_000.0
    let wait = seconds <= year ? seconds : max(seconds - now(), 0)
    return Duration.seconds(min(wait, year))
  }

  /// The wait that a header field `Retry-After` asks for, in seconds or as a date: RFC 9110,
  /// 10.2.3.
  ///
  /// Some services send fractions of seconds, which the RFC does not allow.
  func serverWait(_ field: String?) -> Duration? {
    guard let text = field?.trimmingCharacters(in: .whitespaces), !text.isEmpty else { return nil }
    if text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }) {
      return Double(text).map { Duration.seconds(min($0, Double(Int32.max))).bounded }
    }
    guard let date = HTTPDate.seconds(text) else { return nil }
    return Duration.seconds(max(Double(date) - now(), 0)).bounded
  }
}
