internal import Foundation
internal import Synchronization

/// The least speed of a file that is being fetched: a mirror that sends a byte now and then holds
/// nobody up.
///
/// Guarded by its lock.
final class Pace: Sendable {
  /// The time that a small file has in all, and a large one before its speed counts.
  static let grace = Duration.seconds(60)
  /// The bytes of a second that a large file must have on average.
  static let leastSpeed = 2_048.0

  private let start = ContinuousClock.now
  private let received = Mutex(0)
  private let place: String
  private let isSmall: Bool
  private let now: @Sendable () -> ContinuousClock.Instant

  init(
    _ place: String, isSmall: Bool = false,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.place = place
    self.isSmall = isSmall
    self.now = now
  }

  /// Counts bytes that came.
  ///
  /// - Throws: an error with the code `network` when they come too slowly.
  func take(_ count: Int) throws(DatasetError) {
    let bytes = received.withLock { received in
      received += count
      return received
    }
    let allowed =
      isSmall ? Self.grace : Self.grace + .seconds(Double(bytes) / Self.leastSpeed)
    guard now() - start > allowed else { return }
    throw .slow(place, bytes)
  }
}
