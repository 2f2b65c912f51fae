import CLMDB
import LodestoreSystem

/// A new file with a temporary name until it is complete and gets its final name.
///
/// The process that created the file holds a lock on it, which the kernel releases however the
/// process ends. The process that creates the next temporary file in the same directory can thus
/// recognize and remove the files of killed processes.
package final class TemporaryFile {
  /// The file's path.
  ///
  /// Its name is short, so that it fits the file system's limit wherever the target's name fits.
  package let path: String
  /// The descriptor, open for writing until the object is released.
  package let descriptor: Int32

  private let pending: Int?

  private static let prefix = ".lodestore."
  private static let suffix = ".tmp"
  private static let storeSuffix = ".store"

  /// The name of a store that is created next to the file and removed with it.
  package var storePath: String { path + Self.storeSuffix }

  /// The names of the files that belong to the file at `path`.
  ///
  /// The file itself is the last name. If the files are removed in this order, the others can be
  /// found as long as the file exists.
  private static func names(of path: String) -> [String] {
    [path + storeSuffix + "-lock", path + storeSuffix, path + "-lock", path]
  }

  /// Creates a file in the directory of `target`, and removes the temporary files of processes that
  /// have ended.
  package init(for target: String, mode: UInt32) throws(LMDBError) {
    Self.removeAbandoned(in: Folder.path(of: target))
    while true {
      let name = Self.name(for: target)
      var (file, code): (Int32, Int32) = (-1, ECANCELED)
      let pending = PendingFiles.add(Self.names(of: name)) {
        file = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode_t(mode))
        code = errno
      }
      guard file >= 0 else {
        PendingFiles.remove(pending)
        throw LMDBError(code: code, operation: "make a temporary file beside", path: target)
      }
      if Self.keeps(file) {
        (path, descriptor, self.pending) = (name, file, pending)
        return
      }
      PendingFiles.remove(pending)
      close(file)
    }
  }

  deinit {
    for name in Self.names(of: path) { unlink(name) }
    PendingFiles.remove(pending)
    close(descriptor)
  }

  /// Gives the complete file the name `target`; fails with EEXIST if a file has that name.
  ///
  /// - Returns: 0, or the code of the error.
  func move(to target: String) -> Int32 { Self.move(path, toNew: target) }

  /// Renames the file at `path` to `target`, unless a file has that name.
  ///
  /// The rename is one step, so a process that is killed meanwhile leaves one name. If the system
  /// cannot do that, the file has both names for a moment.
  ///
  /// - Returns: 0, or the code of the error.
  package static func move(_ path: String, toNew target: String) -> Int32 {
    if lodestore_rename_to_new(path, target) == 0 { return 0 }
    let code = errno
    // A file system or kernel that supports only links returns one of these codes.
    guard code == EINVAL || code == ENOSYS || code == ENOTSUP else { return code }
    guard link(path, target) == 0 else { return errno }
    unlink(path)
    return 0
  }

  static func name(for target: String) -> String {
    let number = String(UInt64.random(in: .min ... .max), radix: 36)
    return "\(Folder.path(of: target))/\(prefix)\(number)\(suffix)"
  }

  /// Locks a new file; returns false if another process regarded the file as abandoned and removes
  /// it.
  ///
  /// If the file system has no such locks, no process can regard the file as abandoned.
  private static func keeps(_ file: Int32) -> Bool {
    if flock(file, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { return false }
    return stat(of: file).map { $0.st_nlink > 0 } ?? true
  }

  // MARK: Unnamed files

  /// Opens a new file without a name for reading and writing; -1 and `errno` if that fails.
  ///
  /// If the file system does not support this, the file has a name until it is open.
  static func openUnnamed(in directory: String) -> Int32 {
    #if os(Linux)
      let file = open(directory, unnamed | O_RDWR | O_CLOEXEC, 0o600)
      // open(2) returns one of these codes if the file system or kernel does not support it.
      if file >= 0 || ![EOPNOTSUPP, EISDIR, ENOENT, EINVAL].contains(errno) { return file }
    #endif
    let name = Self.name(for: directory + "/unnamed")
    let named = open(name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
    if named >= 0 { unlink(name) }
    return named
  }

  #if os(Linux)
    /// O_TMPFILE, a macro that is not imported.
    private static let unnamed = 0o20_000_000 | O_DIRECTORY
  #endif

  // MARK: Files of other processes

  /// Held while this process has a temporary file of another process open, and while LMDB opens a
  /// file and its lock file.
  ///
  /// Another process may rename an open temporary file to the name of a lock file. If LMDB already
  /// held its locks on that file, closing the other descriptor would release them, because all
  /// descriptors of a process share its locks on a file.
  private static let others = ManualLock()

  /// Runs `body`, in which LMDB takes its locks, while this process has no temporary file of
  /// another process open.
  static func withoutOthers<R>(_ body: () -> R) -> R {
    others.lock()
    defer { others.unlock() }
    return body()
  }

  /// Removes the files that no process holds.
  package static func removeAbandoned(in directory: String) {
    let names = Folder.names(in: directory, beginningWith: prefix) ?? []
    guard !names.isEmpty else { return }
    others.lock()
    defer { others.unlock() }
    for name in names where name.hasSuffix(suffix) {
      let path = "\(directory)/\(name)"
      guard let status = stat(at: path, followsLink: false) else { continue }
      if status.st_nlink > 1 {
        // The file has its final name, under which it may be open here, so it must not be opened
        // again.
        unlink(path)
        continue
      }
      let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
      guard file >= 0 else { continue }
      defer { close(file) }
      guard flock(file, LOCK_EX | LOCK_NB) == 0 else { continue }
      for name in self.names(of: path) { unlink(name) }
    }
  }
}
