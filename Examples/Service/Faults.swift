/// How a service is slow and fails.
public struct Faults: Sendable, Hashable {
  /// How long each answer takes at least.
  public var delay: Duration
  /// With 3, each third request is answered with status 500; 1 is all, 0 is none.
  public var failsEvery: Int
  /// With 4, the connection is closed in the middle of each fourth answer; 1 is all, 0 is none.
  public var breaksOffEvery: Int

  /// Faults, by default none.
  public init(delay: Duration = .zero, failsEvery: Int = 0, breaksOffEvery: Int = 0) {
    self.delay = delay
    self.failsEvery = failsEvery
    self.breaksOffEvery = breaksOffEvery
  }

  /// Whether the request with a number, from 1, fails.
  func fails(_ number: Int) -> Bool { failsEvery > 0 && number.isMultiple(of: failsEvery) }

  /// Whether the answer to the request with a number, from 1, breaks off.
  func breaksOff(_ number: Int) -> Bool {
    breaksOffEvery > 0 && number.isMultiple(of: breaksOffEvery)
  }
}
