internal import Synchronization

/// Which addresses connections may be made to.
///
/// `floor` is guarded by its lock. Any task may ask.
final class AddressGate: Sendable {
  private let floor: Mutex<AddressRange?>

  /// - Parameter floor: The narrowest range allowed; nil for that of the first connection.
  init(floor: AddressRange?) { self.floor = Mutex(floor) }

  /// Whether a connection may be used; the first one decides where nothing was decided before.
  ///
  /// So the name of a source cannot lead to the world at first and to this machine later.
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
