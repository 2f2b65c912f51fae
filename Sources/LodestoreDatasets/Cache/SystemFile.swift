internal import LodestoreBytes
internal import LodestorePages
import LodestoreSystem

/// The system calls that a dataset's folder needs, with typed errors.
package enum SystemFile {
  /// Facts that change when a path gets other bytes: device, inode number, length and time of
  /// change.
  package struct Stamp: Hashable, Sendable {
    var device: UInt64
    var number: UInt64
    var length: Int64
    var seconds: Int64
    var nanoseconds: Int64
    var isRegular: Bool
    var isFolder: Bool

    init(_ status: stat) {
      device = UInt64(truncatingIfNeeded: status.st_dev)
      number = UInt64(truncatingIfNeeded: status.st_ino)
      length = Int64(status.st_size)
      isRegular = status.isRegularFile
      isFolder = status.st_mode & S_IFMT == S_IFDIR
      seconds = Int64(status.st_mtim.tv_sec)
      nanoseconds = Int64(status.st_mtim.tv_nsec)
    }
  }

  /// The stamp of a file, by one system call; `nil` if the file does not exist.
  package static func stamp(of path: String) -> Stamp? { stat(at: path).map(Stamp.init) }

  /// The path that symbolic links lead to; `nil` if it does not exist.
  ///
  /// If the target cannot be determined, the result is `path`.
  static func resolved(_ path: String) -> String? {
    guard let found = realpath(path, nil) else {
      return errno == ENOENT || errno == ENOTDIR ? nil : path
    }
    defer { free(found) }
    return String(cString: found)
  }

  /// Opens a regular file for reading; `nil` if the file does not exist.
  static func openForReading(_ path: String) throws(DatasetError) -> OpenFile? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw .system(errno, "open", path)
    }
    let file = OpenFile(descriptor)
    guard let status = stat(of: descriptor), status.isRegularFile else {
      throw .system(EINVAL, "open", path)
    }
    return file
  }

  /// All bytes of a file; `nil` if the file does not exist.
  ///
  /// - Parameter limit: The maximum length. A longer file is an error.
  package static func bytes(of path: String, atMost limit: Int) throws(DatasetError) -> [UInt8]? {
    guard let file = try openForReading(path) else { return nil }
    let length = try FileBytes.length(file.descriptor, path: path)
    guard length <= UInt64(limit) else { throw .system(EFBIG, "read", path) }
    let buffer = MutableByteView.allocate(byteCount: Int(length), alignment: 16)
    defer { buffer.deallocate() }
    let count = try FileBytes.read(into: buffer, from: file.descriptor, at: 0, path: path)
    return Array(buffer.prefix(count))
  }

  /// Replaces the content of a path in one step: a process that is killed meanwhile leaves the old
  /// content or the new.
  ///
  /// Only one process may do this at a time, because the new content is written under one fixed
  /// temporary name.
  package static func replace(_ path: String, with bytes: [UInt8]) throws(DatasetError) {
    let temporary = path + ".new"
    let file = try openForWriting(temporary, isNew: true)
    try bytes._withBytes { (bytes) throws(DatasetError) in
      try FileBytes.write(bytes, to: file.descriptor, at: 0, path: temporary)
    }
    try FileBytes.sync(file.descriptor, path: temporary)
    try move(temporary, to: path)
  }

  /// Renames a file, replacing an existing one, and syncs the change to the disk.
  static func move(_ path: String, to target: String) throws(DatasetError) {
    guard rename(path, target) == 0 else { throw .system(errno, "rename", path) }
    try syncFolder(of: target)
  }

  static func syncFolder(of path: String) throws(DatasetError) {
    let folder = Folder.path(of: path)
    let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(errno, "open", folder) }
    defer { close(descriptor) }
    try FileBytes.sync(descriptor, path: folder)
  }

  /// Creates a folder and its parents.
  package static func makeFolder(_ path: String) throws(DatasetError) {
    if mkdir(path, 0o755) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, Folder.path(of: path) != path else { throw .system(errno, "make", path) }
    try makeFolder(Folder.path(of: path))
    guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw .system(errno, "make", path) }
  }

  /// The names in a folder; none if it cannot be read.
  package static func names(in folder: String) -> [String] { Folder.names(in: folder) ?? [] }

  /// Creates an empty file, or opens the existing one, for reading and writing.
  static func openForWriting(_ path: String, isNew: Bool) throws(DatasetError) -> OpenFile {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | (isNew ? O_TRUNC : 0), 0o644)
    guard descriptor >= 0 else { throw .system(errno, "write", path) }
    return OpenFile(descriptor)
  }

  /// Removes a file if it exists.
  static func remove(_ path: String) { unlink(path) }
}

/// A file descriptor that is closed with the last reference.
final class OpenFile: Sendable {
  let descriptor: Int32

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }
}
