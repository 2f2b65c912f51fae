import CLMDB
import LodestoreSystem

extension Environment {
  /// Runs `body` in a write transaction and commits it; an error of `body` aborts everything.
  ///
  /// On the calling thread, which waits for other writers of this and other processes. A write
  /// inside a write throws ``LMDBError/Kind/nestedWrite``. `body` runs again, on a clean
  /// transaction, when the map had to grow in its midst or another thread opened a tree that it
  /// needs, so it must have no other effects.
  package func write<R, E: Error>(_ body: (Transaction) throws(E) -> R) throws -> R {
    try checkUsable("write")
    guard !isWriterThread else {
      throw LMDBError(.nestedWrite, operation: "write", path: path)
    }
    try checkWritable()
    writerLock.lock()
    writerThread.store(currentThread(), ordering: .relaxed)
    defer { leaveWriter() }
    var takesTreeLock = false
    while true {
      let transaction = try beginWrite(takesTreeLock: takesTreeLock)
      let outcome: Result<R, any Error>
      do {
        let running = Transaction(handle: transaction, environment: self)
        let result = try body(running)
        try prepareCommit(running)
        outcome = .success(result)
      } catch {
        outcome = .failure(error)
      }
      if try endWrite(transaction, outcome.error, takesTreeLock: &takesTreeLock) {
        return try outcome.get()
      }
    }
  }

  func checkWritable() throws(LMDBError) {
    guard options.access != .readOnly else {
      throw LMDBError(code: EACCES, operation: "write", path: path)
    }
  }

  /// Commits `transaction`, or aborts it when what ran in it failed, and throws why: `failure`, or an
  /// error that LMDB reported and the closure caught.
  ///
  /// Returns false when that has to run again.
  func endWrite(
    _ transaction: OpaquePointer, _ failure: (any Error)?, memberCount: Int = 1,
    takesTreeLock: inout Bool
  ) throws -> Bool {
    activeWrite = nil
    commitPreparation = nil
    defer {
      endBulkWrite()
      untellTurn()
    }
    // LMDB frees the cursors now; from here on they must not close themselves.
    endedWriteCount.add(1, ordering: .relaxed)
    guard !isForked else {
      // The transaction and the writer's lock are the parent's.
      endTrees(isCommitted: false)
      throw LMDBError(.usedAfterFork, operation: "write", path: path)
    }
    if mustRestart || firstFailure != nil || failure != nil {
      mdb_txn_abort(transaction)
      endTrees(isCommitted: false)
      // A large write puts pages into the file before its end.
      if let code = firstFailure?.code, [EIO, ENOSPC, EDQUOT].contains(code) { giveSpaceBack() }
      if mustRestart {
        takesTreeLock = true
      } else if firstFailure?.isMapFull == true {
        try grow()
      } else {
        throw failure ?? firstFailure
          ?? LMDBError(code: MDB_BAD_TXN, operation: "write", path: path)
      }
      return false
    }
    do {
      try checkNames()
    } catch {
      mdb_txn_abort(transaction)
      endTrees(isCommitted: false)
      throw error
    }
    let isCommit = hasWritten
    let number = UInt64(mdb_txn_id(transaction))
    if isCommit { committing.store(number, ordering: .releasing) }
    defer { committing.store(0, ordering: .releasing) }
    let code = EngineDifferences.code(mdb_txn_commit(transaction))
    endTrees(isCommitted: code == 0)
    if code == MDB_MAP_FULL {
      try grow()
      return false
    }
    guard code == 0 else {
      let failure = commitFailure(code)
      if case .diskFull = failure.kind { giveSpaceBack() }
      throw failure
    }
    // Without a commit the number will be another transaction's, perhaps of another process.
    if isCommit { runCommitHooks(memberCount: memberCount, commit: number) }
    checkReadersPeriodically()
    return true
  }

  func beginWrite(takesTreeLock: Bool) throws(LMDBError) -> OpaquePointer {
    try checkUsable("write")
    guard !poison.load(ordering: .relaxed) else {
      throw LMDBError(.poisoned, operation: "write", path: path)
    }
    try checkNames()
    if !isTrusted.load(ordering: .relaxed) { try checkBeforeWrite() }
    growIfSmall()
    syncMetaPages()
    try FileSizeLimit.check(UInt64(rawInfo.usedBytes), "write to", path)
    firstFailure = nil
    mustRestart = false
    hasWritten = false
    // The hooks of the run before this one.
    commitHooks.removeAll()
    commitPreparation = nil
    runningMember = 0
    try awaitTurn()
    var attempts = 0
    while true {
      attempts += 1
      if takesTreeLock {
        treeLock.lock()
        holdsTreeLock = true
      }
      // Before the begin: a handle opened in between must not be overlooked.
      readOpenedTreeCountAtBegin = readOpenedTreeCount.load(ordering: .sequentiallyConsistent)
      var transaction: OpaquePointer?
      let code = mdb_txn_begin(handle, nil, 0, &transaction)
      if code == 0, let transaction {
        do {
          try checkNumber(of: transaction)
          try renewMetaPages()
        } catch {
          mdb_txn_abort(transaction)
          endTrees(isCommitted: false)
          throw error
        }
        activeWrite = transaction
        tellTurn()
        return transaction
      }
      endTrees(isCommitted: false)
      switch code {
      case MDB_MAP_RESIZED where attempts < 8:
        try adoptMapSizeAsWriter()
      case MDB_PANIC:
        setPoison()
        throw LMDBError(.poisoned, code: code, operation: "write", path: path)
      default:
        throw LMDBError(code: code, operation: "write", path: path)
      }
    }
  }

  /// Called before a write and again before its commit: the committed file must be the one at the
  /// path.
  private func checkNames() throws(LMDBError) {
    if options.isNamed, let files { try files.checkNames("write") }
  }

  /// A write takes its number from the lock file, and its trees from the meta page of that parity; with
  /// another number than that of the newest one it would build on an older commit.
  private func checkNumber(of transaction: OpaquePointer) throws(LMDBError) {
    let last = UInt64(bitPattern: Int64(mdb_txn_id(transaction))) &- 1
    let newest = newestTransaction
    guard last == newest else {
      throw LMDBError(
        .mismatched(.transactions(lockFile: last, dataFile: newest)), operation: "write",
        path: path)
    }
  }

  /// LMDB's own codes and a lack of memory leave the file and the environment as they were.
  private func commitFailure(_ code: Int32) -> LMDBError {
    switch code {
    case MDB_PANIC:
      setPoison()
      return LMDBError(.poisoned, code: code, operation: "commit", path: path)
    case ENOMEM, EINVAL:
      return LMDBError(code: code, operation: "commit", path: path)
    default:
      guard code > 0 else { return LMDBError(code: code, operation: "commit", path: path) }
      return ioFailure(code, operation: "commit")
    }
  }

  /// A failed write or sync.
  ///
  /// What reached the disk is unknown after a failed sync, so nothing is written on top of it; a
  /// disk that is merely full leaves the last commit as it was.
  ///
  /// EFBIG is a limit of the process, found before anything was written.
  ///
  /// With ``EnvironmentOptions/Durability/mayLoseLastCommit`` the sync of a commit is also that of the meta
  /// page of the one before it, which no other commit writes again: then any failure poisons.
  func ioFailure(_ code: Int32, operation: String) -> LMDBError {
    if let kind = StoreFile.fullDisk(code, dataDescriptor) {
      if options.durability == .mayLoseLastCommit { setPoison() }
      return LMDBError(kind, code: code, operation: operation, path: path)
    }
    if code != EFBIG { setPoison() }
    if let limit = FileSizeLimit.met(by: dataDescriptor, code: code) {
      return LMDBError(.fileSizeLimit(limit), code: code, operation: operation, path: path)
    }
    return LMDBError(code: code, operation: operation, path: path)
  }

  /// LMDB's own descriptor of the data file, open until the environment is closed.
  package var dataDescriptor: Int32 {
    var descriptor: Int32 = -1
    mdb_env_get_fd(handle, &descriptor)
    return descriptor
  }

  /// Remembers the first failure of the running write: after it LMDB's transaction is of no use.
  func noteFailure(_ error: LMDBError, in transaction: OpaquePointer) {
    guard isActiveWrite(transaction), firstFailure == nil else { return }
    firstFailure = error
  }

  /// Whether `transaction` is the running write, asked on its thread.
  @inline(__always)
  func isActiveWrite(_ transaction: OpaquePointer) -> Bool {
    isWriterThread && activeWrite == transaction
  }
}

extension Result {
  fileprivate var error: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
