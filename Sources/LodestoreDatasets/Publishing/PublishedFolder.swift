internal import LMDB
internal import LodestoreBytes
internal import LodestorePages
import LodestoreSystem

/// A folder into which one publisher at a time writes.
///
/// The lock is on the folder itself, so no lock file is ever uploaded, and the kernel releases it
/// however the process ends. Files are written under hidden temporary names and renamed when they
/// are on the disk. A reader, or a program that copies the folder, sees complete files or none.
final class PublishedFolder {
  let path: String
  private let descriptor: Int32

  /// Opens the folder, creates it and its parts if they are missing, and takes the lock.
  ///
  /// - Throws: `DatasetError` with the code `busy` if another publisher has the lock.
  init(_ path: String) throws(DatasetError) {
    self.path = path
    for folder in [path] + Self.parts.map({ "\(path)/\($0)" }) {
      guard mkdir(folder, 0o755) == 0 || errno == EEXIST else {
        throw .system(errno, "make the folder", folder)
      }
    }
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(errno, "open the folder", path) }
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      let code = errno
      if code == EINTR { continue }
      // An error may be thrown here, because all properties are set and `deinit` closes the folder.
      throw code == EWOULDBLOCK ? .otherPublisher(path) : .system(code, "lock the folder", path)
    }
  }

  deinit { close(descriptor) }

  private static let parts = [
    PublishedNames.keys, PublishedNames.generations, PublishedNames.patches,
  ]
  private static let temporarySuffix = ".publishing"

  /// The path of a file, from its path within the folder.
  func file(_ name: String) -> String { "\(path)/\(name)" }

  // MARK: Reading

  /// Reads a small file as a whole; `nil` if it does not exist.
  static func contents(of path: String, atMost limit: Int) throws(DatasetError) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw .system(errno, "read", path)
    }
    defer { close(descriptor) }
    let length = try FileBytes.length(descriptor, path: path)
    guard length <= UInt64(limit) else { throw .tooLarge(path, length: length, limit: limit) }
    let buffer = MutableByteView.allocate(byteCount: max(Int(length), 1), alignment: 16)
    defer { buffer.deallocate() }
    let count = try FileBytes.read(
      into: buffer.prefix(Int(length)), from: descriptor, at: 0, path: path)
    return Array(buffer.prefix(count))
  }

  /// The names in a part of the folder, in order of their bytes.
  static func names(in path: String) throws(DatasetError) -> [String] {
    guard let names = Folder.names(in: path) else {
      if errno == ENOENT { return [] }
      throw .system(errno, "list", path)
    }
    return names.sorted()
  }

  // MARK: Writing

  /// A new temporary path for a file that is not complete yet.
  ///
  /// ``removeTemporaries()`` removes the file, even with a further extension.
  var temporary: String { file(".\(UInt64.random(in: .min ... .max))\(Self.temporarySuffix)") }

  /// Writes a file under a temporary name, which ``commit(_:as:)`` renames.
  ///
  /// - Parameter part: The subfolder for the file, such as `g`. The temporary file is created
  ///   there, too, so that it can be renamed.
  func write<R>(
    in part: String, _ body: (_ descriptor: Int32, _ path: String) throws(DatasetError) -> R
  ) throws(DatasetError) -> (temporary: String, result: R) {
    let name = ".\(UInt64.random(in: .min ... .max))\(Self.temporarySuffix)"
    let temporary = part.isEmpty ? file(name) : file("\(part)/\(name)")
    let descriptor = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw .system(errno, "make a file in", path) }
    defer { close(descriptor) }
    do throws(DatasetError) {
      let result = try body(descriptor, temporary)
      try FileBytes.sync(descriptor, path: temporary)
      return (temporary, result)
    } catch {
      unlink(temporary)
      throw error
    }
  }

  /// Writes bytes as a file of a part of the folder.
  func write(_ bytes: [UInt8], in part: String, as name: String) throws(DatasetError) {
    let (temporary, _) = try write(in: part) { (descriptor, path) throws(DatasetError) in
      try bytes._withBytes { (bytes) throws(DatasetError) in
        try FileBytes.write(bytes, to: descriptor, at: 0, path: path)
      }
    }
    try commit(temporary, as: part.isEmpty ? name : "\(part)/\(name)")
  }

  /// Gives a complete temporary file, which is on the disk, its name; replaces an existing file of
  /// that name.
  func commit(_ temporary: String, as name: String) throws(DatasetError) {
    guard rename(temporary, file(name)) == 0 else {
      let code = errno
      unlink(temporary)
      throw .system(code, "write", file(name))
    }
  }

  /// Syncs the folders, so that the new names of all files survive a power cut.
  func syncNames() throws(DatasetError) {
    for part in Self.parts {
      let folder = open(file(part), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard folder >= 0 else { throw .system(errno, "open the folder", file(part)) }
      defer { close(folder) }
      try FileBytes.sync(folder, path: file(part))
    }
    try FileBytes.sync(descriptor, path: path)
  }

  /// Removes the temporary files of killed publishers.
  ///
  /// All temporary files in the folder are of killed publishers, because this process holds the
  /// lock of the folder.
  ///
  /// - Returns: The removed paths within the folder.
  func removeTemporaries() throws(DatasetError) -> [String] {
    var removed: [String] = []
    // A process that was killed while sealing leaves a file with a name of ``TemporaryFile``.
    TemporaryFile.removeAbandoned(in: path)
    for part in [""] + Self.parts {
      for name in try Self.names(in: file(part))
      where name.hasPrefix(".") && name.contains(Self.temporarySuffix) {
        let name = part.isEmpty ? name : "\(part)/\(name)"
        if unlink(file(name)) == 0 { removed.append(name) }
      }
    }
    return removed
  }
}
