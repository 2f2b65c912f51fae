import CLMDB
import LodestoreSystem

/// A new file under a name that nobody else uses, until it is complete and gets its own.
///
/// Its process holds a lock on it, which the kernel drops however that process ends. So whoever makes the
/// next one in the same directory can tell those that killed processes have left, and removes them.
package final class TemporaryFile {
  /// Where it is: short, so that it is no longer than file systems allow where the target is just not.
  package let path: String
  /// Open for writing, until the object goes.
  package let descriptor: Int32

  private let pending: Int?

  private static let prefix = ".lodestore."
  private static let suffix = ".tmp"
  private static let storeSuffix = ".store"

  /// The name for a store that is made beside the file, and goes with it.
  package var storePath: String { path + Self.storeSuffix }

  /// What goes with the file at `path`, which itself is the last: as long as it is there, the others are found.
  private static func names(of path: String) -> [String] {
    [path + storeSuffix + "-lock", path + storeSuffix, path + "-lock", path]
  }

  /// Makes one in the directory of `target`, and removes those of processes that have ended.
  package init(for target: String, mode: UInt32) throws(LMDBError) {
    Self.removeAbandoned(in: StoreFile.directory(of: target))
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

  /// Gives the complete file the name `target`, unless something else has it: EEXIST then.
  ///
  /// - Returns: 0, or the code of the error.
  func move(to target: String) -> Int32 { Self.move(path, toNew: target) }

  /// Gives the file at `path` the name `target` in its place, unless something else has that.
  ///
  /// In one step, so that a process which is killed meanwhile leaves one name. Where the system cannot do
  /// that, the file has both names for a moment.
  ///
  /// - Returns: 0, or the code of the error.
  package static func move(_ path: String, toNew target: String) -> Int32 {
    if lodestore_rename_to_new(path, target) == 0 { return 0 }
    let code = errno
    // What a file system or a kernel says that has links alone.
    guard code == EINVAL || code == ENOSYS || code == ENOTSUP else { return code }
    guard link(path, target) == 0 else { return errno }
    unlink(path)
    return 0
  }

  static func name(for target: String) -> String {
    let number = String(UInt64.random(in: .min ... .max), radix: 36)
    return "\(StoreFile.directory(of: target))/\(prefix)\(number)\(suffix)"
  }

  /// Locks a new file; false when another process was faster, took it for abandoned and removes it.
  ///
  /// Where the file system has no such locks, nobody can take it for abandoned.
  private static func keeps(_ file: Int32) -> Bool {
    var status = stat()
    if flock(file, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK { return false }
    return fstat(file, &status) != 0 || status.st_nlink > 0
  }

  // MARK: Without a name

  /// Opens a new file that has no name, for reading and writing; -1 with `errno` when that fails.
  ///
  /// Where the file system has no such files, it has a name until it is open.
  static func openUnnamed(in directory: String) -> Int32 {
    #if os(Linux)
      let file = open(directory, unnamed | O_RDWR | O_CLOEXEC, 0o600)
      // What open(2) tells of a file system or a kernel without it.
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

  // MARK: Those of others

  /// Held while files of others are open, and while LMDB opens a file and its lock file.
  ///
  /// One that is open here may get its name meanwhile and be a lock file. If LMDB had its locks by then,
  /// closing the other descriptor would drop them, as a process has its locks on a file but once.
  private static let others = HeldLock()

  /// Runs `body`, in which LMDB takes its locks, while no file of others is open.
  static func withoutOthers<R>(_ body: () -> R) -> R {
    others.lock()
    defer { others.unlock() }
    return body()
  }

  /// Removes the files that no process holds.
  package static func removeAbandoned(in directory: String) {
    let names = names(in: directory)
    guard !names.isEmpty else { return }
    others.lock()
    defer { others.unlock() }
    for name in names where name.hasPrefix(prefix) && name.hasSuffix(suffix) {
      let path = "\(directory)/\(name)"
      var status = stat()
      guard lstat(path, &status) == 0 else { continue }
      if status.st_nlink > 1 {
        // It has its own name, under which it may be open here: it must not be opened again.
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

  private static func names(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      // Most names in a directory are others: they are told apart without a copy.
      withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        guard bytes.starts(with: prefix.utf8) else { return }
        names.append(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
      }
    }
    return names
  }
}
