import LMDB
import LodestoreSystem

/// Facts about a file that the file system gives without opening it.
///
/// Closing a second descriptor of a store would release the locks of its readers.
struct FileFacts {
  /// The size in bytes.
  let size: Int
  /// The time of the last change, in seconds since 1970.
  let changed: Double

  /// Fails if there is no file, or if its status may not be read.
  init?(_ path: String) {
    guard let status = stat(at: path) else { return nil }
    size = Int(status.st_size)
    changed = Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) * 1e-9
  }

  /// Whether `path` leads to one of `files`, by any name.
  static func leads(_ path: String, toOneOf files: [String]) -> Bool {
    guard let own = stat(at: path) else { return false }
    return files.contains {
      stat(at: $0).map { $0.st_ino == own.st_ino && $0.st_dev == own.st_dev } ?? false
    }
  }

  /// Creates a file without a name, which disappears when its descriptor is closed; `nil` for an
  /// error.
  static func unnamed(in folder: String) -> Int32? {
    var template = Array("\(folder)/kvdump.XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { return nil }
    unlink(&template)
    // The shell that runs a pager must not inherit the descriptor.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
  }

  /// Waits until all of a file is on the disk.
  ///
  /// This process must not have the file open as a store.
  static func sync(_ path: String) throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw CommandFailure.system(errno, thing: path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw CommandFailure.system(errno, thing: path) }
  }

  /// Waits until the name of a file is on the disk.
  static func syncFolder(of path: String) throws(CommandFailure) {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      // A process that may not list a folder may still write to it.
      if errno == EACCES { return }
      throw CommandFailure.system(errno, thing: folder)
    }
    defer { close(descriptor) }
    // Some file systems cannot sync folders.
    guard fsync(descriptor) == 0 || errno == EINVAL else {
      throw CommandFailure.system(errno, thing: folder)
    }
  }

  /// Renames a complete file, unless a file has the new name: EEXIST then.
  ///
  /// - Returns: 0, or the code of the error.
  static func move(_ path: String, toNew target: String) -> Int32 {
    let code = TemporaryFile.move(path, toNew: target)
    // The file system supports neither a rename that refuses to replace a file nor a second link.
    // If another process creates the target at this moment, the target is replaced.
    guard code == EPERM || code == ENOTSUP else { return code }
    if exists(target) { return EEXIST }
    return rename(path, target) == 0 ? 0 : errno
  }

  /// Removes a store and its lock file, if they exist.
  static func remove(_ path: String) {
    unlink(path)
    unlink(path + "-lock")
  }

  /// Whether anything has the name, including a dangling link.
  static func exists(_ path: String) -> Bool { stat(at: path, followsLink: false) != nil }
}

extension TemporaryFile {
  /// Creates a temporary file in the folder of `path`.
  ///
  /// A failure names `thing`.
  static func beside(_ path: String, mode: mode_t, thing: String) throws -> TemporaryFile {
    do {
      return try TemporaryFile(for: path, mode: mode)
    } catch {
      throw CommandFailure.system(error.code, thing: thing, creating: true)
    }
  }
}
