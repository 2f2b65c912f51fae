import LodestoreBytes
import LodestoreSystem

/// A temporary file next to the store, for data that does not fit into memory.
///
/// The file has no name, so it disappears with the process. The file is next to the store, because
/// that disk has room for the store, while a directory for temporary files may be in memory. Use it
/// on one thread at a time.
package final class ScratchFile {
  /// The size of the buffer.
  private static let blockSize = 1 << 20

  private let file: Int32
  private let path: String
  private let block: OwnedBytes
  private var blockCount = 0
  private var writtenCount = 0

  /// Creates a scratch file in the directory of `path`.
  package init(beside path: String) throws(LMDBError) {
    file = TemporaryFile.openUnnamed(in: Folder.path(of: path))
    self.path = path
    block = OwnedBytes(byteCount: Self.blockSize, alignment: 16)
    guard file >= 0 else { throw failure(errno) }
  }

  /// Creates a scratch file, or returns `nil` if none can be created in the directory of `path`, as
  /// on a read-only medium.
  package static func ifAllowed(beside path: String) throws(LMDBError) -> ScratchFile? {
    do throws(LMDBError) {
      return try ScratchFile(beside: path)
    } catch {
      guard [EROFS, EACCES, EPERM, ENOENT].contains(error.code) else { throw error }
      return nil
    }
  }

  deinit {
    if file >= 0 { close(file) }
  }

  /// The size in bytes, including the buffer.
  package var byteCount: Int { writtenCount + blockCount }

  /// Adds `bytes` at the end.
  package func append(_ bytes: ByteView) throws(LMDBError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = min(rest.count, Self.blockSize - blockCount)
      block.view[blockCount...].copyMemory(from: rest[..<count])
      blockCount += count
      rest = rest[count...]
      if blockCount == Self.blockSize { try writeBlock() }
    }
  }

  /// Fills `target` with the bytes from `offset`, which must have been appended.
  package func read(at offset: Int, into target: MutableByteView) throws(LMDBError) {
    if blockCount > 0 { try writeBlock() }
    let count = target.fill(from: file, at: offset)
    // Nobody else has the file, so a file shorter than its written size is a failure of the disk.
    guard count == target.count else { throw failure(count < 0 ? errno : EIO) }
  }

  private func writeBlock() throws(LMDBError) {
    let code = ByteView(block.view[..<blockCount]).writeAll(to: file)
    guard code == 0 else { throw failure(code) }
    writtenCount += blockCount
    blockCount = 0
  }

  private func failure(_ code: Int32) -> LMDBError {
    StoreFile.failedWrite(code, to: file, operation: "keep a scratch file beside", path: path)
  }
}
