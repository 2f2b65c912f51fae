import LodestoreBytes
import LodestoreSystem

/// A temporary file beside the store, for what does not fit into memory.
///
/// It has no name, so that the file goes with the process.
/// Beside the store, as there is room for the store on that disk, where a directory for temporary
/// files may lie in memory. For one thread at a time.
package final class ScratchFile {
  /// The size of the buffer.
  private static let blockSize = 1 << 20

  private let file: Int32
  private let path: String
  private let block: MutableByteView
  private var blockCount = 0
  private var writtenCount = 0

  /// Makes one beside `path`.
  package init(beside path: String) throws(LMDBError) {
    file = TemporaryFile.openUnnamed(in: StoreFile.directory(of: path))
    self.path = path
    block = .allocate(byteCount: Self.blockSize, alignment: 16)
    guard file >= 0 else { throw failure(errno) }
  }

  /// Makes one, or none where no file can be made beside `path`, as on a medium that is only read.
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
    block.deallocate()
  }

  /// Its size in bytes, the buffer included.
  package var byteCount: Int { writtenCount + blockCount }

  /// Adds `bytes` at the end.
  package func append(_ bytes: ByteView) throws(LMDBError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = min(rest.count, Self.blockSize - blockCount)
      block[blockCount...].copyMemory(from: rest[..<count])
      blockCount += count
      rest = rest[count...]
      if blockCount == Self.blockSize { try writeBlock() }
    }
  }

  /// Fills `target` with the bytes from `offset` on, which must have been added.
  package func read(at offset: Int, into target: MutableByteView) throws(LMDBError) {
    if blockCount > 0 { try writeBlock() }
    var done = 0
    while done < target.count {
      let count = pread(
        file, target.baseAddress?.advanced(by: done), target.count - done, off_t(offset + done))
      if count < 0, errno == EINTR { continue }
      // Nobody else has the file, so one that is shorter than what was written is the disk's failure.
      guard count > 0 else { throw failure(count < 0 ? errno : EIO) }
      done += count
    }
  }

  private func writeBlock() throws(LMDBError) {
    let code = StoreFile.writeAll(ByteView(block[..<blockCount]), to: file)
    guard code == 0 else { throw failure(code) }
    writtenCount += blockCount
    blockCount = 0
  }

  private func failure(_ code: Int32) -> LMDBError {
    StoreFile.failedWrite(code, to: file, operation: "keep a scratch file beside", path: path)
  }
}
