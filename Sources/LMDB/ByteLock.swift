import LodestoreSystem

/// Locks on byte ranges of a file, each held by one open file description (fcntl: F_OFD_SETLK).
///
/// The system releases the locks when the last descriptor of the description is closed. The bytes
/// need not exist in the file.
enum ByteLock {
  enum Holder: Equatable {
    case nobody
    /// Another open file description holds a lock that begins at this byte.
    case other(UInt64)
    /// The system cannot determine a holder.
    case unknown
  }

  /// Sets or removes a lock; returns false if the system refuses it.
  @discardableResult
  static func set(_ type: Int32, of file: Int32, in bytes: Range<UInt64>) -> Bool {
    var region = region(bytes, type)
    return fcntl(file, setLock, &region) == 0
  }

  /// Returns who else holds a lock on one of `bytes`.
  static func holder(of file: Int32, in bytes: Range<UInt64>) -> Holder {
    guard !bytes.isEmpty else { return .nobody }
    var found = region(bytes, F_WRLCK)
    guard fcntl(file, getLock, &found) == 0 else { return .unknown }
    return found.l_type == Int16(F_UNLCK) ? .nobody : .other(UInt64(max(0, found.l_start)))
  }

  private static func region(_ bytes: Range<UInt64>, _ type: Int32) -> flock {
    var region = flock()
    region.l_type = Int16(type)
    region.l_whence = Int16(SEEK_SET)
    region.l_start = off_t(bytes.lowerBound)
    region.l_len = off_t(bytes.count)
    return region
  }

  // The values of F_OFD_SETLK and F_OFD_GETLK, which some C libraries' headers lack.
  #if canImport(Darwin)
    private static let setLock: Int32 = 90
    private static let getLock: Int32 = 92
  #else
    private static let setLock: Int32 = 37
    private static let getLock: Int32 = 36
  #endif
}
