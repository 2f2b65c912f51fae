import CLMDB
import LodestoreSystem

extension Environment {
  /// Runs `body` in a write transaction and commits it.
  ///
  /// If `body` throws, all changes are undone.
  ///
  /// The body runs on the calling thread, which waits for other writers of this and other
  /// processes. A write within a write throws ``LMDBError/Kind/nestedWrite``.
  ///
  /// `body` must have no side effects, because it may run again on a new transaction. `body` runs
  /// again if the map had to grow, or if another thread opened a tree that `body` needs.
  package func write<R, E: Error>(_ body: (WritingTransaction) throws(E) -> R) throws -> R {
    try checkUsable("write")
    guard !isWriterThread else { throw failure(.nestedWrite, "write") }
    try checkWritable()
    writerLock.lock()
    writerThread.store(currentThread(), ordering: .relaxed)
    defer { leaveWriter() }
    var takesTreeLock = false
    while true {
      let transaction = try beginWrite(takesTreeLock: takesTreeLock)
      let outcome: Result<R, any Error>
      do {
        let running = WritingTransaction(handle: transaction, environment: self)
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
    guard options.access != .readOnly else { throw failure(code: EACCES, "write") }
  }

  /// Commits `transaction`, or aborts it if its work failed.
  ///
  /// Throws the reason: `failure`, or an error of LMDB that the closure caught.
  ///
  /// Returns false if the work must run again.
  func endWrite(
    _ transaction: OpaquePointer, _ failure: (any Error)?, memberCount: Int = 1,
    takesTreeLock: inout Bool
  ) throws -> Bool {
    writeSide.activeWrite = nil
    writeSide.commitPreparation = nil
    defer {
      endBulkWrite()
      withdrawTurn()
    }
    // LMDB frees the cursors now. From here on they must not close themselves.
    endedWriteCount.add(1, ordering: .relaxed)
    guard !isForked else {
      // The transaction and the writer's lock belong to the parent.
      endTrees(isCommitted: false)
      throw self.failure(.usedAfterFork, "write")
    }
    if writeSide.mustRestart || writeSide.firstFailure != nil || failure != nil {
      mdb_txn_abort(transaction)
      endTrees(isCommitted: false)
      // A large write puts pages into the file before it ends.
      if let code = writeSide.firstFailure?.code, [EIO, ENOSPC, EDQUOT].contains(code) {
        giveSpaceBack()
      }
      if writeSide.mustRestart {
        takesTreeLock = true
      } else if writeSide.firstFailure?.isMapFull == true {
        try grow()
      } else {
        throw failure ?? writeSide.firstFailure ?? self.failure(code: MDB_BAD_TXN, "write")
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
    let isCommit = writeSide.hasWritten
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
    // Without a commit, the number will belong to another transaction, perhaps of another process.
    if isCommit { runCommitHooks(memberCount: memberCount, commit: number) }
    checkReadersPeriodically()
    return true
  }

  func beginWrite(takesTreeLock: Bool) throws(LMDBError) -> OpaquePointer {
    try checkUsable("write")
    guard !poison.load(ordering: .relaxed) else { throw failure(.poisoned, "write") }
    try checkNames()
    if !isTrusted.load(ordering: .relaxed) { try checkBeforeWrite() }
    growIfSmall()
    syncMetaPages()
    try FileSizeLimit.check(UInt64(rawInfo.usedBytes), "write to", path)
    writeSide.firstFailure = nil
    writeSide.mustRestart = false
    writeSide.hasWritten = false
    // The hooks belong to the previous run.
    writeSide.commitHooks.removeAll()
    writeSide.commitPreparation = nil
    writeSide.runningMember = 0
    try awaitTurn()
    var attempts = 0
    while true {
      attempts += 1
      if takesTreeLock {
        treeLock.lock()
        writeSide.holdsTreeLock = true
      }
      // Read the count before the begin, so that a handle opened in between is noticed.
      writeSide.readOpenedTreeCountAtBegin = readOpenedTreeCount.load(
        ordering: .sequentiallyConsistent)
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
        writeSide.activeWrite = transaction
        announceTurn()
        return transaction
      }
      endTrees(isCommitted: false)
      switch code {
      case MDB_MAP_RESIZED where attempts < 8: try adoptMapSizeAsWriter()
      case MDB_PANIC:
        setPoison()
        throw failure(.poisoned, code: code, "write")
      default: throw failure(code: code, "write")
      }
    }
  }

  /// Throws unless the path still leads to the open file.
  ///
  /// Called before a write and again before its commit.
  private func checkNames() throws(LMDBError) {
    if options.isNamed, let files { try files.checkNames("write") }
  }

  /// Throws unless the write's number follows the newest commit.
  ///
  /// A write takes its number from the lock file, and its trees from one of the two meta pages,
  /// chosen by that number. If the number is wrong, the write would continue an older commit.
  private func checkNumber(of transaction: OpaquePointer) throws(LMDBError) {
    let last = UInt64(bitPattern: Int64(mdb_txn_id(transaction))) &- 1
    let newest = newestTransaction
    guard last == newest else {
      throw failure(.mismatched(.transactions(lockFile: last, dataFile: newest)), "write")
    }
  }

  /// The error for a failed commit.
  ///
  /// LMDB's own codes and a lack of memory leave the file and the environment unchanged.
  private func commitFailure(_ code: Int32) -> LMDBError {
    switch code {
    case MDB_PANIC:
      setPoison()
      return failure(.poisoned, code: code, "commit")
    case ENOMEM, EINVAL: return failure(code: code, "commit")
    default:
      guard code > 0 else { return failure(code: code, "commit") }
      return ioFailure(code, operation: "commit")
    }
  }

  /// The error for a failed write or sync.
  ///
  /// After a failed sync the content of the disk is unknown, so nothing is written afterwards. A
  /// disk that is merely full leaves the last commit unchanged.
  ///
  /// EFBIG is a limit of the process, found before anything was written.
  ///
  /// With ``EnvironmentOptions/Durability/mayLoseLastCommit`` the sync of a commit also covers the
  /// meta page of the commit before it, which no other commit writes again. Any failure then
  /// forbids further writes.
  func ioFailure(_ code: Int32, operation: String) -> LMDBError {
    if let kind = StoreFile.fullDisk(code, dataDescriptor) {
      if options.durability == .mayLoseLastCommit { setPoison() }
      return failure(kind, code: code, operation)
    }
    if code != EFBIG { setPoison() }
    if let limit = FileSizeLimit.reached(by: dataDescriptor, code: code) {
      return failure(.fileSizeLimit(limit), code: code, operation)
    }
    return failure(code: code, operation)
  }

  /// LMDB's own descriptor of the data file, open until the environment is closed.
  package var dataDescriptor: Int32 {
    var descriptor: Int32 = -1
    mdb_env_get_fd(handle, &descriptor)
    return descriptor
  }

  /// Stores the first failure of the running write, after which LMDB's transaction is unusable.
  func noteFailure(_ error: LMDBError, in transaction: OpaquePointer) {
    guard isActiveWrite(transaction), writeSide.firstFailure == nil else { return }
    writeSide.firstFailure = error
  }

  /// Notes that the running write has changed a page.
  ///
  /// Called for each changed pair, on the write's thread.
  @inline(__always)
  func noteWrite() { writeSide.hasWritten = true }

  /// Whether `transaction` is the running write of this thread.
  ///
  /// Any thread may call this function. Threads without the write return before they read
  /// ``writeSide``, because ``writerThread`` is atomic.
  @inline(__always)
  func isActiveWrite(_ transaction: OpaquePointer) -> Bool {
    isWriterThread && writeSide.activeWrite == transaction
  }
}

extension Result {
  fileprivate var error: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
