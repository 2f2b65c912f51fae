internal import Synchronization

/// Decides to which addresses connections are allowed.
///
/// The lock guards `floor`. Any task may call it.
final class AddressGate: Sendable {
  private let floor: Mutex<AddressRange?>

  /// - Parameter floor: The narrowest range that connections may go to. If `nil`, the range of the
  ///   first connection becomes the floor.
  init(floor: AddressRange?) { self.floor = Mutex(floor) }

  /// Whether a connection may be used.
  ///
  /// Without a floor, the first connection determines it.
  ///
  /// A source's name therefore cannot lead to a public address first and to this machine later.
  func admits(_ range: AddressRange) -> Bool {
    floor.withLock { floor in
      guard let least = floor else {
        floor = range
        return true
      }
      return range >= least
    }
  }
}
