internal import CLMDB

extension Environment {
  /// Begins a read transaction, which ends with its scope.
  ///
  /// Waits only while the map is being grown.
  ///
  /// - Throws: `closed`, `usedAfterFork`, or an engine error; MDB_READERS_FULL only when every
  ///   slot is held by a living process.
  package func beginRead() throws(LMDBError) -> ReadTransaction {
    try checkNotForked("begin a read transaction")
    let idle = try gate.enter("begin a read transaction")
    if let idle {
      let code = mdb_txn_renew(idle)
      if code == MDB_SUCCESS { return ReadTransaction(raw: idle, environment: self) }
      mdb_txn_abort(idle)
    }
    return try beginNewRead()
  }

  /// Runs `body` with a read transaction that ends when it returns.
  package func read<Result>(_ body: (borrowing ReadTransaction) throws -> Result) throws -> Result {
    let transaction = try beginRead()
    return try body(transaction)
  }

  /// Begins a transaction that the pool did not have. The caller has entered the gate; if this
  /// throws, it has been left.
  private func beginNewRead() throws(LMDBError) -> ReadTransaction {
    var mayCheckReaders = true
    while true {
      var transaction: OpaquePointer?
      let code = mdb_txn_begin(raw, nil, UInt32(MDB_RDONLY), &transaction)
      if code == MDB_SUCCESS, let transaction {
        return ReadTransaction(raw: transaction, environment: self)
      }
      if code == MDB_READERS_FULL && mayCheckReaders {
        mayCheckReaders = false
        mdb_reader_check(raw, nil)
        continue
      }
      let error = failure(code, "begin a read transaction")
      leaveGate()
      guard code == MDB_MAP_RESIZED else { throw error }
      try adoptMapSize()
      try gate.enterWithoutTransaction("begin a read transaction")
    }
  }
}
