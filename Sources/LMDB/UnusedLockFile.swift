import LodestoreSystem

/// The lock file of a store that no process has open, held so that no process can use it.
///
/// A process that has a store open through LMDB holds a lock on the first byte of the lock file.
/// While this object holds that lock, a process that opens the store waits.
final class UnusedLockFile {
  private let path: String
  private let descriptor: Int32
  private var isHeld = false

  /// Takes the lock file of a store, and creates an empty one if there is none.
  ///
  /// - Throws: ``LMDBError/Kind/unsuitablePath(_:)`` if a process has the store open.
  init(ofStore store: String, operation: String) throws(LMDBError) {
    path = store + "-lock"
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else { throw LMDBError(code: errno, operation: operation, path: path) }
    var first = flock()
    first.l_type = Int16(F_WRLCK)
    first.l_whence = Int16(SEEK_SET)
    first.l_len = 1
    isHeld = fcntl(descriptor, F_SETLK, &first) == 0
    if isHeld { return }
    let code = errno
    guard code == EACCES || code == EAGAIN else {
      throw LMDBError(code: code, operation: operation, path: path)
    }
    throw LMDBError(
      .unsuitablePath("open in another process; close it there first"), operation: operation,
      path: store)
  }

  deinit {
    // A lock file without bytes was created for this object or holds nothing, so it can be removed.
    if isHeld, status?.st_size == 0 { remove() }
    close(descriptor)
  }

  private var status: stat? { stat(of: descriptor) }

  /// Removes the lock file.
  ///
  /// The next process that opens the store creates a new one.
  func remove() {
    // The path may now lead to another file.
    guard let status, StoreFile.identity(at: path) == StoreFile.Identity(status) else { return }
    unlink(path)
  }
}
