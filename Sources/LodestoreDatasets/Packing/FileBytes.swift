internal import LodestoreBytes
import LodestoreSystem

/// Reads and writes open files completely, repeating interrupted and partial calls.
enum FileBytes {
  /// Writes all bytes at an offset.
  static func write(
    _ bytes: ByteView, to descriptor: Int32, at offset: UInt64, path: String
  ) throws(DatasetError) {
    let code = bytes.writeAll(to: descriptor, at: Int(offset))
    guard code == 0 else { throw .system(code, "write", path) }
  }

  /// Reads bytes at an offset, fewer if the file ends.
  ///
  /// - Returns: The number of bytes read.
  static func read(
    into bytes: MutableByteView, from descriptor: Int32, at offset: UInt64,
    path: String
  ) throws(DatasetError) -> Int {
    let count = bytes.fill(from: descriptor, at: Int(offset))
    guard count >= 0 else { throw .system(errno, "read", path) }
    return count
  }

  /// Calls `body` with each piece of a file from `start` on, and with the offset of the piece.
  ///
  /// - Throws: the errors of `body`, and `CancellationError` after the task is cancelled.
  static func forEachPiece(
    of descriptor: Int32, from start: UInt64 = 0, size: Int = 1 << 20, path: String,
    _ body: (ByteView, UInt64) throws -> Void
  ) throws {
    let buffer = MutableByteView.allocate(byteCount: size, alignment: 4_096)
    defer { buffer.deallocate() }
    var offset = start
    while true {
      try Task.checkCancellation()
      let count = try read(into: buffer, from: descriptor, at: offset, path: path)
      guard count > 0 else { return }
      try body(ByteView(buffer.prefix(count)), offset)
      offset += UInt64(count)
    }
  }

  /// Sets the length of a file.
  static func cut(_ descriptor: Int32, to length: UInt64, path: String) throws(DatasetError) {
    while ftruncate(descriptor, off_t(length)) != 0 {
      guard errno == EINTR else { throw .system(errno, "write", path) }
    }
  }

  /// Waits until the file is on the disk.
  static func sync(_ descriptor: Int32, path: String) throws(DatasetError) {
    while fsync(descriptor) != 0 {
      // Some file systems cannot sync folders.
      if errno == EINVAL { return }
      guard errno == EINTR else { throw .system(errno, "sync", path) }
    }
  }

  /// The length of an open file.
  static func length(_ descriptor: Int32, path: String) throws(DatasetError) -> UInt64 {
    guard let status = stat(of: descriptor) else { throw .system(errno, "read", path) }
    return UInt64(max(status.st_size, 0))
  }
}
