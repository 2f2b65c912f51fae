internal import EntityStore
internal import LMDB
internal import LodestoreBytes
import LodestoreSystem

/// A new file that appears completely or not at all.
///
/// Until ``commit()`` the file has a temporary name in the same directory. Without a commit it is
/// removed with the object.
final class NewFile {
  private let target: String
  private let replaces: Bool
  private let temporary: TemporaryFile
  private var buffer: [UInt8] = []
  private static let bufferSize = 1 << 16

  init(_ target: String, replaces: Bool) throws(StoreError) {
    self.target = target
    self.replaces = replaces
    var status = stat()
    if lstat(target, &status) == 0 {
      guard replaces, status.st_mode & S_IFMT == S_IFREG else {
        throw Self.failure(replaces ? EISDIR : EEXIST, target)
      }
    }
    do {
      temporary = try TemporaryFile(for: target, mode: 0o666)
    } catch {
      throw StoreError(ofEngine: error)
    }
  }

  private static func failure(_ code: Int32, _ path: String) -> StoreError {
    StoreError(ofEngine: LMDBError(code: code, operation: "write", path: path))
  }

  func write(_ bytes: [UInt8]) throws(StoreError) {
    buffer += bytes
    if buffer.count >= Self.bufferSize { try flush() }
  }

  private func flush() throws(StoreError) {
    let code = buffer._withBytes { bytes -> Int32 in
      var rest = bytes
      while !rest.isEmpty {
        let count = writeSome(temporary.descriptor, rest)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { return errno }
        rest = rest.dropFirst(count)
      }
      return 0
    }
    buffer.removeAll(keepingCapacity: true)
    guard code == 0 else { throw Self.failure(code, target) }
  }

  /// Syncs the file to the disk and then gives it its name.
  func commit() throws(StoreError) {
    try flush()
    guard fsync(temporary.descriptor) == 0 else { throw Self.failure(errno, target) }
    // The rename is one step, because another process may have created the file meanwhile.
    let code =
      replaces
      ? (rename(temporary.path, target) == 0 ? 0 : errno)
      : TemporaryFile.move(temporary.path, toNew: target)
    guard code == 0 else { throw Self.failure(code, target) }
  }
}

/// Calls the system's `write`, which the method of ``NewFile`` would hide.
private func writeSome(_ file: Int32, _ bytes: ByteView) -> Int {
  #if canImport(Glibc)
    Glibc.write(file, bytes.baseAddress, bytes.count)
  #elseif canImport(Musl)
    Musl.write(file, bytes.baseAddress, bytes.count)
  #else
    Darwin.write(file, bytes.baseAddress, bytes.count)
  #endif
}
