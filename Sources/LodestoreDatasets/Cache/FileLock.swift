import LodestoreSystem

/// A lock on a whole file (flock), held by one open file description.
///
/// The system releases the lock with the last reference, and when the process ends in any way.
package final class FileLock: Sendable {
  private let file: OpenFile

  private init(_ file: OpenFile) { self.file = file }

  // Descriptors that a child has between its fork and the start of its program share the lock, and
  // would keep it until then.
  deinit { flock(file.descriptor, LOCK_UN) }

  /// Locks a file exclusively and creates it if needed; `nil` while another open file description
  /// has a lock.
  ///
  /// A program that cleans caches may remove the file between its opening and the lock. Another
  /// process then locks a newly created file, and the lock on the old one has no effect.
  package static func exclusive(making path: String) throws(DatasetError) -> FileLock? {
    while true {
      let file = try SystemFile.openForWriting(path, isNew: false)
      guard let lock = try locked(file, path, LOCK_EX | LOCK_NB) else { return nil }
      guard let status = stat(of: file.descriptor) else { return lock }
      let (mine, there) = (SystemFile.Stamp(status), SystemFile.stamp(of: path))
      if mine.device == there?.device, mine.number == there?.number { return lock }
    }
  }

  /// Locks a file that no process uses.
  ///
  /// Returns `nil` if a process has a lock on the file, or if the file does not exist.
  static func exclusive(of path: String) throws(DatasetError) -> FileLock? {
    guard let file = try SystemFile.openForReading(path) else { return nil }
    return try locked(file, path, LOCK_EX | LOCK_NB)
  }

  private static func locked(
    _ file: OpenFile, _ path: String, _ operation: Int32
  ) throws(DatasetError) -> FileLock? {
    while flock(file.descriptor, operation) != 0 {
      switch errno {
      case EINTR: continue
      case EWOULDBLOCK: return nil
      // On a file system without such locks, other processes cannot be detected, so the file counts
      // as locked by this process.
      case ENOTSUP, ENOLCK, EOPNOTSUPP: return FileLock(file)
      default: throw .system(errno, "lock", path)
      }
    }
    return FileLock(file)
  }
}
