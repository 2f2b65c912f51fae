import KVDumpCommands
import LodestoreDatasets
import LodestoreSystem

/// Files with signing keys, which only their owner may read.
enum KeyFile {
  /// The maximum size of a key file in bytes.
  private static let byteLimit = 4_096

  static func read(_ path: String) throws -> SigningKey {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(errno, path) }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: byteLimit)
    let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
    guard count >= 0 else { throw failure(errno, path) }
    return try SigningKey(pem: String(decoding: bytes.prefix(count), as: UTF8.self), name: path)
  }

  /// Writes a new key.
  ///
  /// An existing file is never replaced.
  static func write(_ key: SigningKey, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure(errno, path, creating: true) }
    defer { close(descriptor) }
    let bytes = Array(key.pem.utf8)
    let count = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    guard count == bytes.count, fsync(descriptor) == 0 else {
      let code = errno
      unlink(path)
      throw failure(code, path, creating: true)
    }
  }

  /// Whether other users than the owner may read the file.
  static func isOpenToOthers(_ path: String) -> Bool {
    stat(at: path).map { $0.st_mode & 0o077 != 0 } ?? false
  }

  private static func failure(
    _ code: Int32, _ path: String, creating: Bool = false
  ) -> CommandFailure {
    .system(code, thing: path, creating: creating, nextStep: nil)
  }
}
