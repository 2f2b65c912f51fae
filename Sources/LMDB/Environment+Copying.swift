import CLMDB
import LodestoreSystem

extension Environment {
  /// Copies the newest commit into a new file at `destination` and syncs the file.
  ///
  /// A compacting copy omits free pages. An existing file is not touched, and a new file gets its
  /// name when it is complete. Do not call it within a write: the copy would wait for that write.
  ///
  /// - Parameter step: Called after each megabyte with the number of bytes copied. If it returns
  ///   false, the copy ends with ``LMDBError/Kind/cancelled`` and leaves no file.
  /// - Returns: The size of the copy in bytes.
  @discardableResult
  package func copy(
    to destination: String, compacting: Bool, step: ((_ bytes: Int) -> Bool)? = nil
  ) throws(LMDBError) -> Int {
    try checkUsable("copy")
    guard !isWriterThread else { throw failure(.nestedWrite, "copy") }
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
      // The file was reported as complete, but a power cut could remove it.
      unlink(destination)
      throw error
    }
    return Int(status.st_size)
  }

  func copy(into file: Int32, _ compacting: Bool, _ step: ((Int) -> Bool)?) throws(LMDBError) {
    if let pageEngine { return try pageEngine.copy(into: file, compacting, step) }
    var attempts = 0
    while true {
      attempts += 1
      _ = try enterReaders(takesPooled: false)
      // LMDB's own thread uses the handle while this thread reads the pipe.
      nonisolated(unsafe) let handle = handle
      let copy: @Sendable (Int32) -> Int32 = {
        EngineDifferences.code(mdb_env_copyfd2(handle, $0, compacting ? UInt32(MDB_CP_COMPACT) : 0))
      }
      let code = withBulkReading {
        step.map { CopyPipe.run(copy, into: file, step: $0) } ?? copy(file)
      }
      leaveReaders(nil)
      if code == 0 { return }
      if code == CopyPipe.cancelled { throw failure(.cancelled, "copy to") }
      // These errors occur when LMDB begins its transaction, before the first byte is written.
      try recover(from: code, attempts: attempts, operation: "copy")
    }
  }
}
