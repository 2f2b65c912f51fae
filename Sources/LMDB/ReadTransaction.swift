internal import CLMDB

/// A view of an environment that does not change, as of one commit.
///
/// Begun by ``Environment/beginRead()`` and ended by the end of its scope; inside a write it is
/// ``WriteTransaction/reading`` and shows what the write has done so far. It may move to another
/// thread, but only one thread may use it at a time.
///
/// Bytes it returns lie in the map. They are valid until the transaction ends, and inside a write
/// until the next change: copy what has to live longer. Cursors must end before it does.
///
/// While it is open the file cannot reuse the pages it sees, and the map cannot grow past what
/// was reserved. Keep it short.
package struct ReadTransaction: ~Copyable {
  let raw: OpaquePointer
  let environment: Environment
  let environmentNumber: UInt32
  /// The write this is the reading side of; `nil` for a transaction of its own.
  let session: WriteSession?

  init(raw: OpaquePointer, environment: Environment, session: WriteSession? = nil) {
    self.raw = raw
    self.environment = environment
    self.session = session
    environmentNumber = environment.number
  }

  deinit {
    // The engine's transaction of a write is ended by the write. In a forked child everything
    // belongs to the parent.
    guard session == nil, environment.forkGeneration == ForkDetection.generation else { return }
    mdb_txn_reset(raw)
    switch environment.gate.leave(keeping: raw) {
    case .left: break
    case .leftLast: environment.finish()
    case .refused:
      mdb_txn_abort(raw)
      environment.leaveGate()
    }
  }

  /// The number of the commit this shows; in a write, the number its commit will have.
  package var transactionID: UInt64 { UInt64(mdb_txn_id(raw)) }

  /// The value under `key`, or `nil`.
  package borrowing func get(
    _ key: UnsafeRawBufferPointer, in tree: Tree
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    if tree.usesIntegerKeys {
      return try get(tree.integer(from: key, operation: "get a value"), in: tree)
    }
    try tree.check(key.count, environmentNumber, "get a value")
    var engineKey = MDB_val(key)
    return try get(&engineKey, tree)
  }

  /// The value under `key`, or `nil`.
  package borrowing func get(
    _ key: UInt64, in tree: Tree
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try tree.checkIntegerKeys(environmentNumber, "get a value")
    var integer = key
    return try withUnsafeMutableBytes(of: &integer) { (bytes) throws(LMDBError) in
      var engineKey = MDB_val(UnsafeRawBufferPointer(bytes))
      return try get(&engineKey, tree)
    }
  }

  @inline(__always)
  private borrowing func get(
    _ key: inout MDB_val, _ tree: Tree
  ) throws(LMDBError) -> UnsafeRawBufferPointer? {
    var value = MDB_val()
    let code = mdb_get(raw, tree.handle, &key, &value)
    if code == MDB_SUCCESS { return UnsafeRawBufferPointer(value) }
    if code == MDB_NOTFOUND { return nil }
    throw failure(code, "get a value")
  }

  /// A cursor without a position. End it before the transaction.
  package borrowing func cursor(in tree: Tree) throws(LMDBError) -> Cursor {
    try tree.checkEnvironment(environmentNumber, "open a cursor")
    var cursor: OpaquePointer?
    let code = mdb_cursor_open(raw, tree.handle, &cursor)
    guard code == MDB_SUCCESS, let cursor else { throw failure(code, "open a cursor") }
    return Cursor(raw: cursor, tree: tree, environment: environment, session: session)
  }

  /// The error for a code of the engine; in a write it also keeps the write from committing.
  @inline(never)
  borrowing func failure(_ code: Int32, _ operation: StaticString) -> LMDBError {
    let error = environment.failure(code, operation)
    session?.note(error)
    return error
  }
}

extension MDB_val {
  /// The engine declares every pointer mutable and does not write through those of keys and of
  /// values that it stores.
  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) {
    self.init(
      mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }
}

extension UnsafeRawBufferPointer {
  @inline(__always)
  init(_ value: MDB_val) {
    self.init(start: value.mv_data, count: value.mv_size)
  }
}
