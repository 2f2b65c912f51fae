import Synchronization

/// The environments of this process by the file they have open.
///
/// The engine may have a file open once per process: closing a second environment on it drops
/// the process's file locks, and the next process then reuses pages that are being read here.
/// The key is device and inode, as one file can have several paths.
///
/// Opening and freeing an environment both happen while the lock is held, so that the same file
/// is never opened while its old environment is half freed.
///
/// Mutable state: the dictionary, guarded by the mutex it is in.
enum EnvironmentRegistry {
  struct Entry {
    let environment: Environment
    var openCount: Int
    /// The lock file follows the path and not the inode, so a renamed data file leaves its lock
    /// to the next file of that name.
    let lockFile: FileIdentity?
  }

  private static let entries = Mutex<[FileIdentity: Entry]>([:])

  static func withLock<Result>(
    _ body: (inout [FileIdentity: Entry]) throws -> Result
  ) rethrows -> Result {
    try entries.withLock(body)
  }
}
