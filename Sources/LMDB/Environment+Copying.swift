import CLMDB
import LodestoreSystem

extension Environment {
  /// Copies the newest commit into a new file at `destination`, synced.
  ///
  /// Compacting leaves out free pages. A file that is there is not touched; a new one gets its name
  /// when it is complete. Not inside a write, which the copy would wait for.
  ///
  /// - Parameter step: called after each megabyte with the number of bytes that the copy has; false ends it with
  ///   ``LMDBError/Kind/cancelled``, and nothing is left.
  /// - Returns: the size of the copy in bytes.
  @discardableResult
  package func copy(
    to destination: String, compacting: Bool, step: ((_ bytes: Int) -> Bool)? = nil
  ) throws(LMDBError) -> Int {
    try checkUsable("copy")
    guard !isWriterThread else {
      throw LMDBError(.nestedWrite, operation: "copy", path: path)
    }
    guard access(destination, F_OK) != 0 else {
      throw LMDBError(code: EEXIST, operation: "copy to", path: destination)
    }
    var status = stat()
    do throws(LMDBError) {
      try StoreFile.checkName(of: destination)
      let temporary = try TemporaryFile(for: destination, mode: options.mode)
      try copy(into: temporary.descriptor, compacting, step)
      fstat(temporary.descriptor, &status)
      let code = fsync(temporary.descriptor) == 0 ? temporary.move(to: destination) : errno
      guard code == 0 else { throw LMDBError(code: code, operation: "copy to", path: destination) }
    } catch {
      throw LMDBError(error.kind, code: error.code, operation: "copy to", path: destination)
    }
    do {
      try StoreFile.syncDirectory(of: destination)
    } catch {
      // A power cut could take it away after it was said to be there.
      unlink(destination)
      throw error
    }
    return Int(status.st_size)
  }

  func copy(
    into file: Int32, _ compacting: Bool, _ step: ((Int) -> Bool)?
  ) throws(LMDBError) {
    if let pageEngine { return try pageEngine.copy(into: file, compacting, step) }
    var attempts = 0
    while true {
      attempts += 1
      _ = try enterReaders(takesPooled: false)
      // LMDB's own thread has the handle while this one reads what it writes.
      nonisolated(unsafe) let handle = handle
      let copy: @Sendable (Int32) -> Int32 = {
        EngineDifferences.code(
          mdb_env_copyfd2(handle, $0, compacting ? UInt32(MDB_CP_COMPACT) : 0))
      }
      let code = withBulkReading {
        step.map { CopyPipe.run(copy, into: file, step: $0) } ?? copy(file)
      }
      leaveReaders(nil)
      if code == 0 { return }
      if code == CopyPipe.cancelled {
        throw LMDBError(.cancelled, operation: "copy to", path: path)
      }
      // Either error comes at the begin of LMDB's transaction, before the first byte is written.
      try recover(from: code, attempts: attempts, operation: "copy")
    }
  }
}
