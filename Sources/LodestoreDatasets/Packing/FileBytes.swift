internal import LodestoreBytes
import LodestoreSystem

/// Reads and writes open files completely, repeating interrupted and partial calls.
enum FileBytes {
  /// Writes all bytes at an offset.
  static func write(
    _ bytes: ByteView, to descriptor: Int32, at offset: UInt64, path: String
  ) throws(DatasetError) {
    var done = 0
    while done < bytes.count {
      let count = pwrite(
        descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done,
        off_t(offset) + off_t(done))
      if count < 0 {
        if errno == EINTR { continue }
        throw .system(errno, "write", path)
      }
      done += count
    }
  }

  /// Reads bytes at an offset, fewer if the file ends.
  ///
  /// - Returns: The number of bytes read.
  static func read(
    into bytes: MutableByteView, from descriptor: Int32, at offset: UInt64,
    path: String
  ) throws(DatasetError) -> Int {
    var done = 0
    while done < bytes.count {
      let count = pread(
        descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done,
        off_t(offset) + off_t(done))
      if count < 0 {
        if errno == EINTR { continue }
        throw .system(errno, "read", path)
      }
      if count == 0 { break }
      done += count
    }
    return done
  }

  /// Sets the length of a file.
  static func cut(
    _ descriptor: Int32, to length: UInt64, path: String
  ) throws(DatasetError) {
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
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(errno, "read", path) }
    return UInt64(max(status.st_size, 0))
  }
}
