import LMDB
import LodestoreSystem

/// What the file system says of a file, without opening it: closing a second descriptor of a store
/// would give up the locks that its readers hold.
struct FileFacts {
  /// In bytes.
  let size: Int
  /// The last change, in seconds since 1970.
  let changed: Double

  /// Nil when there is none, or it may not be looked at.
  init?(_ path: String) {
    guard let status = Self.status(path) else { return nil }
    size = Int(status.st_size)
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    changed = Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
  }

  /// Whether `path` leads to one of `files`, by whatever name.
  static func leads(_ path: String, toOneOf files: [String]) -> Bool {
    guard let own = status(path) else { return false }
    return files.contains {
      status($0).map { $0.st_ino == own.st_ino && $0.st_dev == own.st_dev } ?? false
    }
  }

  /// Makes a file without a name, which is gone when its descriptor is closed; nil for an error.
  static func unnamed(in folder: String) -> Int32? {
    var template = Array("\(folder)/kvdump.XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { return nil }
    unlink(&template)
    // Not inherited by the shell of a pager under its own number.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
  }

  static func status(_ path: String) -> stat? {
    var status = stat()
    return stat(path, &status) == 0 ? status : nil
  }

  /// Waits until the disk has all of a file; only while this process does not have it open as a store.
  static func sync(_ path: String) throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw CommandFailure.system(errno, thing: path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw CommandFailure.system(errno, thing: path) }
  }

  /// Waits until the disk has the name of a file.
  static func syncFolder(of path: String) throws(CommandFailure) {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      // Who may not list a folder may write to it all the same.
      if errno == EACCES { return }
      throw CommandFailure.system(errno, thing: folder)
    }
    defer { close(descriptor) }
    // Some file systems know no sync of folders.
    guard fsync(descriptor) == 0 || errno == EINVAL else {
      throw CommandFailure.system(errno, thing: folder)
    }
  }

  /// Gives a complete file its name, unless something has that: EEXIST then.
  ///
  /// - Returns: 0, or the code of the error.
  static func move(_ path: String, toNew target: String) -> Int32 {
    let code = TemporaryFile.move(path, toNew: target)
    // A file system that knows neither: what another process may make at this moment is replaced.
    guard code == EPERM || code == ENOTSUP else { return code }
    if exists(target) { return EEXIST }
    return rename(path, target) == 0 ? 0 : errno
  }

  /// Takes a store away, and its lock file; nothing where there is none.
  static func remove(_ path: String) {
    unlink(path)
    unlink(path + "-lock")
  }

  /// Whether anything has the name, also a link that leads nowhere.
  static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }
}

extension TemporaryFile {
  /// The file beside `path`; a failure names `thing`.
  static func beside(_ path: String, mode: mode_t, thing: String) throws -> TemporaryFile {
    do {
      return try TemporaryFile(for: path, mode: mode)
    } catch {
      throw CommandFailure.system(error.code, thing: thing, creating: true)
    }
  }
}
