import CLMDB
import LodestoreSystem

/// Creates sealed files.
package enum SealedFile {
  /// Creates a sealed file at `path` from the pairs of `source` that `body` adds.
  ///
  /// No file may exist at `path`.
  ///
  /// A file that is not sealed has the same form without the mark, and its owner may write it.
  ///
  /// The file is named when it is complete and on the disk. If the process is killed, either no
  /// file or a complete one has that name.
  ///
  /// - Throws: ``LMDBError``, and the errors of `body`. No file remains.
  package static func make(
    at path: String, of source: Environment, isSealed: Bool = true,
    _ body: (inout PageFileWriter) throws -> Void
  ) throws -> PageFileWriter.Written {
    try source.checkUsable("seal")
    guard !source.isWriterThread else {
      throw LMDBError(.nestedWrite, operation: "seal", path: source.path)
    }
    guard access(path, F_OK) != 0 else {
      throw LMDBError(code: EEXIST, operation: "seal to", path: path)
    }
    try StoreFile.checkName(of: path)
    let temporary: TemporaryFile
    do throws(LMDBError) {
      temporary = try TemporaryFile(for: path, mode: mode(of: source) | (isSealed ? 0 : 0o200))
    } catch {
      throw LMDBError(error.kind, code: error.code, operation: "seal to", path: path)
    }
    let written: PageFileWriter.Written
    do {
      var writer = try PageFileWriter(descriptor: temporary.descriptor, isSealed: isSealed)
      try body(&writer)
      written = try writer.finish()
    } catch let error as PageWriteError {
      throw failure(error, temporary.descriptor, path)
    }
    let code = fsync(temporary.descriptor) == 0 ? temporary.move(to: path) : errno
    guard code == 0 else {
      throw LMDBError(
        StoreFile.fullDisk(code, temporary.descriptor) ?? .engine, code: code,
        operation: "seal to", path: path)
    }
    do {
      try StoreFile.syncDirectory(of: path)
    } catch {
      // The file was reported as complete, but a power cut could remove it.
      unlink(path)
      throw error
    }
    return written
  }

  /// The permissions of the new file: whoever may read the source may read it, and nobody may write
  /// it.
  private static func mode(of source: Environment) -> UInt32 {
    guard let status = stat(of: source.dataDescriptor) else { return 0o400 }
    return UInt32(status.st_mode) & 0o444
  }

  private static func failure(_ error: PageWriteError, _ file: Int32, _ path: String) -> LMDBError {
    func damaged(_ reason: String) -> LMDBError {
      LMDBError(.damaged(reason), code: MDB_CORRUPTED, operation: "seal to", path: path)
    }
    switch error {
    case .system(let code):
      return StoreFile.failedWrite(code, to: file, operation: "seal to", path: path)
    case .keyOrder(let tree): return damaged("the keys of the tree \(tree) are not in order")
    case .keyLength(let tree, let count):
      return damaged("the tree \(tree) has a key of \(count) bytes")
    case .valueLength(let tree, let count):
      return damaged("the tree \(tree) has a value of \(count) bytes")
    case .treeTwice(let name): return damaged("two trees have the name \(name)")
    }
  }
}
