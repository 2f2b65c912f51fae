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
    if let status = stat(at: target, followsLink: false) {
      guard replaces, status.isRegularFile else {
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
    let code = buffer._withBytes { $0.writeAll(to: temporary.descriptor) }
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
