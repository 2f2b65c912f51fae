/// How a service is slow and fails.
public struct Faults: Sendable, Hashable {
  /// How long each answer takes at least.
  public var delay: Duration
  /// Every request of so many is answered with status 500; 0 for none, 1 for all.
  public var failsEvery: Int
  /// The connection is closed amid every answer of so many; 0 for none.
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
