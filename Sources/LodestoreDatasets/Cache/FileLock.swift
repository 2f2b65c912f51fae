import LodestoreSystem

/// A lock of a whole file (flock), held by one opening of it.
///
/// The system drops the lock with the last reference and with the process, however that ends.
final class FileLock: Sendable {
  private let file: OpenFile

  private init(_ file: OpenFile) { self.file = file }

  /// Locks a file for one holder and makes it if needed; nil while another opening has a lock.
  ///
  /// A cleaner of caches may have removed the file between its opening and the lock. Then another
  /// process locks a file that has been made since, and the lock of the old one counts for nothing.
  static func exclusive(making path: String) throws(DatasetError) -> FileLock? {
    while true {
      let file = try SystemFile.openForWriting(path, isNew: false)
      guard let lock = try locked(file, path, LOCK_EX | LOCK_NB) else { return nil }
      var status = stat()
      guard fstat(file.descriptor, &status) == 0 else { return lock }
      let (mine, there) = (SystemFile.Stamp(status), SystemFile.stamp(of: path))
      if mine.device == there?.device, mine.number == there?.number { return lock }
    }
  }

  /// Locks a file that nobody uses; nil while somebody does, or when the file is gone.
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
      // A file system without such locks: nothing can be told of other processes.
      case ENOTSUP, ENOLCK, EOPNOTSUPP: return FileLock(file)
      default: throw .system(errno, "lock", path)
      }
    }
    return FileLock(file)
  }
}
