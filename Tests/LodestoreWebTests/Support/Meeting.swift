import Foundation

/// A place where threads wait for one another.
final class Meeting: @unchecked Sendable {
  private let condition = NSCondition()
  private let expected: Int
  private var present = 0

  init(of expected: Int) { self.expected = expected }

  /// Waits until all threads have arrived, at most ten seconds.
  func wait() {
    condition.lock()
    defer { condition.unlock() }
    present += 1
    condition.broadcast()
    let limit = Date(timeIntervalSinceNow: 10)
    while present < expected, condition.wait(until: limit) {}
  }

  var tookPlace: Bool {
    condition.lock()
    defer { condition.unlock() }
    return present >= expected
  }
}
