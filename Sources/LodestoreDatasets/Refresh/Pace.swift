internal import Foundation
internal import Synchronization

/// The minimum speed of a download, so that a very slow mirror cannot block a refresh forever.
///
/// A lock guards it.
final class Pace: Sendable {
  /// The time for which any speed is allowed.
  ///
  /// A small file must arrive within this time; a larger file must have the minimum speed after it.
  static let grace = Duration.seconds(60)
  /// The minimum average speed of a large file in bytes per second.
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

  /// Counts received bytes.
  ///
  /// - Throws: An error with the code `network` if they arrive too slowly.
  func take(_ count: Int) throws(DatasetError) {
    let bytes = received.withLock { received in
      received += count
      return received
    }
    let allowed = isSmall ? Self.grace : Self.grace + .seconds(Double(bytes) / Self.leastSpeed)
    guard now() - start > allowed else { return }
    throw .slow(place, bytes)
  }
}
