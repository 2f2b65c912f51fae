/// The simulated delays and failures of a service.
public struct Faults: Sendable, Hashable {
  /// The minimum time of each answer.
  public var delay: Duration
  /// The interval of failing requests: with 3, every third request is answered with status 500.
  ///
  /// 1 means all requests, and 0 means none.
  public var failsEvery: Int
  /// The interval of interrupted answers: with 4, the connection is closed in the middle of every
  /// fourth answer.
  ///
  /// 1 means all answers, and 0 means none.
  public var breaksOffEvery: Int
  /// The path and query whose requests wait for their answers until the faults change.
  public var withheld: String?

  /// Makes faults; by default there are none.
  public init(
    delay: Duration = .zero, failsEvery: Int = 0, breaksOffEvery: Int = 0, withheld: String? = nil
  ) {
    self.delay = delay
    self.failsEvery = failsEvery
    self.breaksOffEvery = breaksOffEvery
    self.withheld = withheld
  }

  /// Whether a request fails.
  ///
  /// The first request has the number 1.
  func fails(_ number: Int) -> Bool { failsEvery > 0 && number.isMultiple(of: failsEvery) }

  /// Whether the answer to a request is interrupted.
  ///
  /// The first request has the number 1.
  func breaksOff(_ number: Int) -> Bool {
    breaksOffEvery > 0 && number.isMultiple(of: breaksOffEvery)
  }
}
