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

  /// Creates a file without a name, which disappears when its descriptor is closed.
  ///
  /// - Returns: The descriptor; -1 for an error.
  static func unnamed(in folder: String) -> Int32 {
    var template = Array("\(folder)/kvdump.XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { return -1 }
    unlink(&template)
    // The shell that runs a pager must not inherit the descriptor.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
  }

  /// Waits until all of a file, or the names of a folder, are on the disk.
  ///
  /// This process must not have the file open as a store.
  static func sync(_ path: String, isFolder: Bool = false) throws(CommandFailure) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    // A process that may not list a folder may still write to it.
    if descriptor < 0, isFolder, errno == EACCES { return }
    guard descriptor >= 0 else { throw CommandFailure.system(errno, thing: path) }
    defer { close(descriptor) }
    // Some file systems cannot sync folders.
    guard fsync(descriptor) == 0 || isFolder && errno == EINVAL else {
      throw CommandFailure.system(errno, thing: path)
    }
  }

  /// Waits until the name of a file is on the disk.
  static func syncFolder(of path: String) throws(CommandFailure) {
    try sync(path.lastIndex(of: "/").map { String(path[...$0]) } ?? ".", isFolder: true)
  }

  /// Renames a complete file, and waits until the name is on the disk.
  ///
  /// Throws `existing` if a file has the new name. After a failure no file has the new name.
  static func move(_ path: String, toNew target: String, existing: CommandFailure) throws {
    var code = TemporaryFile.move(path, toNew: target)
    // The file system supports neither a rename that refuses to replace a file nor a second link.
    // If another process creates the target at this moment, the target is replaced.
    if code == EPERM || code == ENOTSUP {
      code = exists(target) ? EEXIST : rename(path, target) == 0 ? 0 : errno
    }
    if code == EEXIST { throw existing }
    guard code == 0 else { throw CommandFailure.system(code, thing: target, creating: true) }
    do {
      try syncFolder(of: target)
    } catch {
      // The file was reported as complete, but a power cut could remove it.
      unlink(target)
      throw error
    }
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
