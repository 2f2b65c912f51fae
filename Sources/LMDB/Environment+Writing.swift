internal import CLMDB

extension Environment {
  private enum Attempt<Result> {
    case committed(Result)
    case mapFull
  }

  /// Runs `body` as the one writer and commits what it did; if it throws, nothing is changed.
  ///
  /// Runs on the calling thread and waits for other writers, in this process and in others. When
  /// the map turns out to be full, the transaction is aborted, the map grown, and **`body` run
  /// again**: it must not have effects outside the transaction before this call returns.
  ///
  /// - Throws: What `body` throws. `nestedWrite` inside another write on this thread,
  ///   `readOnlyEnvironment`, `closed`, `usedAfterFork`. The first engine failure inside `body`,
  ///   if it caught that and returned. `mapAtLimit` and `mapHeldByTransactions` when the map
  ///   cannot grow. When the commit itself fails, nothing of it is visible to readers, and unless
  ///   it failed before touching the file, later writes throw `poisoned` until the file has been
  ///   closed and opened again.
  package func write<Result>(
    _ body: (borrowing WriteTransaction) throws -> Result
  ) throws -> Result {
    try checkNotForked("begin a write")
    if isReadOnly {
      throw LMDBError(.readOnlyEnvironment, operation: "begin a write", path: path)
    }
    try writerPlace.take("begin a write")
    defer { writerPlace.giveUp() }
    try checkReadersIfDue()
    try growMapIfTight()
    while true {
      try checkNotPoisoned()
      switch try attempt(body) {
      case .committed(let result): return result
      case .mapFull: try growMap()
      }
    }
  }

  /// Makes earlier commits durable that did not wait for their meta page.
  package func synchronize() throws {
    try checkNotForked("synchronize")
    if isReadOnly { return }
    try writerPlace.take("synchronize")
    defer { writerPlace.giveUp() }
    try checkNotPoisoned()
    try gate.enterWithoutTransaction("synchronize")
    defer { leaveGate() }
    let code = mdb_env_sync(raw, 1)
    if code != MDB_SUCCESS { throw poisoned(by: code, "synchronize") }
  }

  private func attempt<Result>(
    _ body: (borrowing WriteTransaction) throws -> Result
  ) throws -> Attempt<Result> {
    let transaction = WriteTransaction(raw: try beginWrite(), environment: self)
    // Runs after the transaction has ended on every path below.
    defer { leaveGate() }
    let session = transaction.session
    let result: Result
    do {
      result = try body(transaction)
    } catch {
      transaction.abort()
      // The body may have wrapped the error or met another on the way out; what counts is that
      // there was no room.
      if let first = session.firstError, first.isMapFull { return .mapFull }
      throw error
    }
    if let first = session.firstError {
      transaction.abort()
      if first.isMapFull { return .mapFull }
      throw first
    }
    let code = transaction.commit()
    if code == MDB_MAP_FULL { return .mapFull }
    if code != MDB_SUCCESS {
      if EngineCode.leavesCommitInDoubt(code) || code == MDB_PANIC {
        throw poisoned(by: code, "commit")
      }
      throw failure(code, "commit")
    }
    if !session.openedTrees.isEmpty {
      treesByName.withLock { $0.merge(session.openedTrees) { _, opened in opened } }
    }
    return .committed(result)
  }

  /// Begins the engine's write transaction and stays in the gate; if this throws, it has left.
  private func beginWrite() throws(LMDBError) -> OpaquePointer {
    while true {
      try gate.enterWithoutTransaction("begin a write")
      var transaction: OpaquePointer?
      let code = mdb_txn_begin(raw, nil, 0, &transaction)
      if code == MDB_SUCCESS, let transaction { return transaction }
      let error = failure(code, "begin a write")
      leaveGate()
      guard code == MDB_MAP_RESIZED else { throw error }
      try adoptMapSize()
    }
  }

  private func checkNotPoisoned() throws(LMDBError) {
    if let first = poisoning {
      throw LMDBError(.poisoned(firstCode: first.code), operation: "begin a write", path: path)
    }
  }

  /// After a failed sync the system may have dropped the pages it could not write, and the next
  /// sync would report success without them. Only a fresh environment reads what is really there.
  private func poisoned(by code: Int32, _ operation: StaticString) -> LMDBError {
    let error = failure(code, operation)
    poison.withLock { if $0 == nil { $0 = error } }
    return error
  }

  /// Frees the slots of dead processes now and then: until that is done their snapshots keep the
  /// file growing.
  private func checkReadersIfDue() throws(LMDBError) {
    let isDue = maintenance.withLock { maintenance in
      let now = ContinuousClock.now
      guard now >= maintenance.nextReaderCheck else { return false }
      maintenance.nextReaderCheck = now + options.readerCheckInterval
      return true
    }
    if isDue { _ = try clearDeadReaders() }
  }
}
