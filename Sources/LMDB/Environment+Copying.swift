internal import CLMDB

extension Environment {
  /// Writes the newest commit to a new file, complete and durable before it gets its name.
  ///
  /// Other threads read and write meanwhile; the copy holds a snapshot for its whole duration.
  /// Compacting leaves out free pages, and with them whatever deleted data they still hold; it
  /// takes more time.
  ///
  /// - Throws: `fileExists` if there is a file of that name, `nestedWrite` inside a write, where
  ///   the engine would wait for itself.
  package func copy(to destination: String, compacting: Bool) throws(LMDBError) {
    try checkNotForked("copy")
    if destination.isEmpty || destination.utf8.contains(0) {
      throw LMDBError(
        .unsuitablePath(destination.isEmpty ? .empty : .nulByte), operation: "copy to",
        path: destination)
    }
    if writerPlace.isHeldByThisThread {
      throw LMDBError(.nestedWrite, operation: "copy to", path: destination)
    }
    if (try? SystemCalls.status(ofLinkAt: destination)) != nil {
      throw LMDBError(.fileExists, operation: "copy to", path: destination)
    }
    let temporaryPath = TemporaryName.make(for: destination)
    do {
      let descriptor = try SystemCalls.createFile(
        temporaryPath, permissions: options.permissions)
      defer {
        SystemCalls.closeDescriptor(descriptor)
        SystemCalls.remove(temporaryPath)
      }
      if let failure = copyFailure(to: descriptor, compacting: compacting) { throw failure }
      try SystemCalls.synchronize(descriptor)
      try SystemCalls.link(temporaryPath, to: destination)
      try SystemCalls.synchronizeDirectory(of: destination)
    } catch let error as SystemCalls.Failure {
      if error.code == EngineCode.exists {
        throw LMDBError(.fileExists, operation: "copy to", path: destination)
      }
      throw LMDBError(engine: error.code, operation: "copy to", path: destination)
    } catch let error as LMDBError {
      throw error
    } catch {
      throw LMDBError(engine: EngineCode.inputOutput, operation: "copy to", path: destination)
    }
  }

  private func copyFailure(to descriptor: Int32, compacting: Bool) -> LMDBError? {
    do {
      while true {
        try gate.enterWithoutTransaction("copy")
        let code = mdb_env_copyfd2(raw, descriptor, compacting ? UInt32(MDB_CP_COMPACT) : 0)
        let error = code == MDB_SUCCESS ? nil : failure(code, "copy")
        leaveGate()
        // Found before the first byte is written.
        guard code == MDB_MAP_RESIZED else { return error }
        try adoptMapSize()
      }
    } catch {
      return error
    }
  }
}
