internal import LodestoreBytes
internal import LodestorePages
internal import LodestoreSystem

/// An open file of an object in a ``FolderStorage``.
///
/// An object's file never changes, so an open one stays whole while another takes its name. The
/// descriptor closes with the last reference.
final class FolderFile {
  static let pieceSize = 256 << 10
  /// The size up to which a tag is computed from the content.
  ///
  /// Objects that are replaced by condition are small. The tag of a larger object is made of its
  /// file's number, time and size, so lists read no large files.
  private static let hashedSize = 64 << 10

  private let descriptor: Int32
  private let storage: FolderStorage
  private let operation: StorageError.Operation
  private let key: String

  private init(
    _ descriptor: Int32, _ storage: FolderStorage, _ operation: StorageError.Operation,
    _ key: String
  ) {
    self.descriptor = descriptor
    self.storage = storage
    self.operation = operation
    self.key = key
  }

  deinit { close(descriptor) }

  /// Opens the file of an object.
  static func open(
    _ path: String, _ storage: FolderStorage, _ operation: StorageError.Operation, _ key: String
  ) throws(StorageError) -> FolderFile {
    // Without waiting, because another program may have put a pipe there.
    let descriptor = LodestoreSystem.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      guard errno != ENOENT, errno != ENOTDIR, errno != ELOOP else {
        throw storage.failure(.notFound, operation, key, "there is no such file")
      }
      throw storage.system(errno, operation, key)
    }
    let file = FolderFile(descriptor, storage, operation, key)
    guard try file.status().isRegularFile else {
      throw storage.failure(.notFound, operation, key, "there is no such file")
    }
    return file
  }

  private func status() throws(StorageError) -> stat {
    guard let status = stat(of: descriptor) else { throw storage.system(errno, operation, key) }
    return status
  }

  func byteCount() throws(StorageError) -> UInt64 { UInt64(max(try status().st_size, 0)) }

  func head() throws(StorageError) -> ObjectHead {
    let status = try status()
    let count = UInt64(max(status.st_size, 0))
    guard count > UInt64(Self.hashedSize) else {
      let hash = SHA256Digest.digest(of: try bytes(0..<count))
      return ObjectHead(byteCount: count, tag: ObjectTag(RequestText.hex(hash)))
    }
    let time = status.st_mtim
    return ObjectHead(
      byteCount: count,
      tag: ObjectTag("\(status.st_ino)-\(time.tv_sec).\(time.tv_nsec)-\(count)"))
  }

  /// The requested part of the file.
  func part(_ range: Range<UInt64>?) throws(StorageError) -> Range<UInt64> {
    let count = try byteCount()
    guard let range else { return 0..<count }
    guard range.lowerBound < count, !range.isEmpty else {
      throw storage.failure(
        .badRange, operation, key, "found \(count) bytes, expected more than \(range.lowerBound)")
    }
    return range.clamped(to: 0..<count)
  }

  func bytes(_ part: Range<UInt64>) throws(StorageError) -> [UInt8] {
    let count = Int(part.upperBound - part.lowerBound)
    var read = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { bytes, size in
      read = MutableByteView(bytes).fill(from: descriptor, at: Int(part.lowerBound))
      size = max(read, 0)
    }
    guard read >= 0 else { throw storage.system(errno, operation, key) }
    guard read == count else {
      throw storage.failure(
        .badAnswer, operation, key,
        "the file was cut to \(read) of \(count) bytes while it was read")
    }
    return bytes
  }

  // MARK: Writing

  /// Writes a new file, and waits until its content is on the disk.
  static func write(
    _ content: ObjectContent, to path: String, _ storage: FolderStorage, _ key: String
  ) throws(StorageError) -> ObjectTag {
    let descriptor = LodestoreSystem.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw storage.system(errno, .put, key) }
    let file = FolderFile(descriptor, storage, .put, key)
    do throws(StorageError) {
      switch content {
      case .bytes(let bytes): try file.append(bytes, at: 0)
      case .file(let source, _):
        let source = try openSource(source, storage, key)
        let count = try source.byteCount()
        var start: UInt64 = 0
        while start < count {
          let end = min(start + UInt64(pieceSize), count)
          try file.append(try source.bytes(start..<end), at: start)
          start = end
        }
      }
      while fsync(descriptor) != 0 {
        guard errno == EINTR else { throw storage.system(errno, .put, key) }
      }
      return try file.head().tag
    } catch {
      unlink(path)
      throw error
    }
  }

  private static func openSource(
    _ path: String, _ storage: FolderStorage, _ key: String
  ) throws(StorageError) -> FolderFile {
    let descriptor = LodestoreSystem.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw storage.failure(
        .badRequest, .put, key,
        "the file '\(path)' cannot be read: \(String(cString: strerror(errno)))")
    }
    return FolderFile(descriptor, storage, .put, key)
  }

  private func append(_ bytes: [UInt8], at offset: UInt64) throws(StorageError) {
    let code = bytes._withBytes { $0.writeAll(to: descriptor, at: Int(offset)) }
    guard code == 0 else { throw storage.system(code, .put, key) }
  }
}

extension SHA256Digest {
  fileprivate static func digest(of bytes: [UInt8]) -> [UInt8] {
    bytes._withBytes { digest(of: $0) }
  }
}
