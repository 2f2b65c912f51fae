internal import CLMDB

/// A position in a tree that moves in key order.
///
/// Moves return whether there is an entry where they lead; without one, ``key`` and ``value`` are
/// empty. Both lie in the map and are valid as long as the transaction's other bytes are: until
/// it ends, and inside a write until the next change. The cursor must end before its transaction;
/// one that belongs to a write and outlives it refuses to move.
package struct Cursor: ~Copyable {
  private let raw: OpaquePointer
  private let tree: Tree
  private let environment: Environment
  private let session: WriteSession?
  private var engineKey = MDB_val()
  private var engineValue = MDB_val()

  init(raw: OpaquePointer, tree: Tree, environment: Environment, session: WriteSession?) {
    self.raw = raw
    self.tree = tree
    self.environment = environment
    self.session = session
  }

  deinit {
    // The end of a write frees its cursors with it.
    if session?.isFinished != true { mdb_cursor_close(raw) }
  }

  /// The current entry's key; empty without a position.
  package var key: UnsafeRawBufferPointer { UnsafeRawBufferPointer(engineKey) }
  /// The current entry's value; empty without a position.
  package var value: UnsafeRawBufferPointer { UnsafeRawBufferPointer(engineValue) }
  /// The current entry's key in a tree of integers; `nil` without a position or in another tree.
  package var integerKey: UInt64? {
    tree.usesIntegerKeys && key.count == 8 ? key.loadUnaligned(as: UInt64.self) : nil
  }

  package mutating func first() throws(LMDBError) -> Bool { try move(MDB_FIRST) }
  package mutating func last() throws(LMDBError) -> Bool { try move(MDB_LAST) }

  /// Moves to the following entry; without a position, to the first.
  package mutating func next() throws(LMDBError) -> Bool { try move(MDB_NEXT) }

  /// Moves to the preceding entry; without a position, to the last.
  package mutating func previous() throws(LMDBError) -> Bool { try move(MDB_PREV) }

  /// Moves to the entry with exactly this key.
  package mutating func seek(to key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
    try seek(key, MDB_SET_KEY)
  }

  /// Moves to the entry with exactly this key.
  package mutating func seek(to key: UInt64) throws(LMDBError) -> Bool {
    try withBytes(of: key) { (cursor, bytes) throws(LMDBError) in try cursor.seek(to: bytes) }
  }

  /// Moves to the first entry whose key is `key` or greater.
  package mutating func seek(atOrAfter key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
    try seek(key, MDB_SET_RANGE)
  }

  /// Moves to the first entry whose key is `key` or greater.
  package mutating func seek(atOrAfter key: UInt64) throws(LMDBError) -> Bool {
    try withBytes(of: key) { (cursor, bytes) throws(LMDBError) in
      try cursor.seek(atOrAfter: bytes)
    }
  }

  /// Moves to the last entry whose key is `key` or less.
  package mutating func seek(atOrBefore key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
    guard try seek(key, MDB_SET_RANGE) else { return try last() }
    if KeyOrder.compare(self.key, key, integers: tree.usesIntegerKeys) == 0 { return true }
    return try move(MDB_PREV)
  }

  /// Moves to the last entry whose key is `key` or less.
  package mutating func seek(atOrBefore key: UInt64) throws(LMDBError) -> Bool {
    try withBytes(of: key) { (cursor, bytes) throws(LMDBError) in
      try cursor.seek(atOrBefore: bytes)
    }
  }

  /// Stores `value` under `key`, in place of what is there, and moves to it.
  ///
  /// Cheaper than a put through the transaction when keys come in order.
  package mutating func put(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(LMDBError) {
    try store(key, value, 0, "put a value")
  }

  /// Stores `value` under `key`, in place of what is there, and moves to it.
  package mutating func put(_ key: UInt64, _ value: UnsafeRawBufferPointer) throws(LMDBError) {
    try withBytes(of: key) { (cursor, bytes) throws(LMDBError) in try cursor.put(bytes, value) }
  }

  /// Stores `value` under a `key` greater than all in the tree and moves to it.
  ///
  /// - Throws: MDB_KEYEXIST if the key is not greater; the transaction is then as it was.
  package mutating func append(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(LMDBError) {
    try store(key, value, UInt32(MDB_APPEND), "append a value")
  }

  /// Stores `value` under a `key` greater than all in the tree and moves to it.
  ///
  /// - Throws: MDB_KEYEXIST if the key is not greater; the transaction is then as it was.
  package mutating func append(_ key: UInt64, _ value: UnsafeRawBufferPointer) throws(LMDBError) {
    try withBytes(of: key) { (cursor, bytes) throws(LMDBError) in
      try cursor.append(bytes, value)
    }
  }

  /// Removes the current entry.
  ///
  /// The cursor is then between its neighbors: ``next()`` moves to the entry that followed it,
  /// ``previous()`` to the one before it. Until it moves it has no entry.
  package mutating func delete() throws(LMDBError) {
    try checkUsable("delete a value")
    guard !key.isEmpty else {
      throw LMDBError(engine: EngineCode.invalidArgument, operation: "delete a value")
    }
    let code = mdb_cursor_del(raw, 0)
    if code != MDB_SUCCESS { throw failure(code, "delete a value") }
    forgetEntry()
  }

  private mutating func move(_ operation: MDB_cursor_op) throws(LMDBError) -> Bool {
    try checkUsable("move a cursor")
    let code = mdb_cursor_get(raw, &engineKey, &engineValue, operation)
    if code == MDB_SUCCESS { return true }
    forgetEntry()
    if code == MDB_NOTFOUND { return false }
    throw failure(code, "move a cursor")
  }

  private mutating func seek(
    _ key: UnsafeRawBufferPointer, _ operation: MDB_cursor_op
  ) throws(LMDBError) -> Bool {
    guard !tree.usesIntegerKeys || key.count == 8 else {
      throw LMDBError(.keyKind(treeUsesIntegerKeys: true), operation: "move a cursor")
    }
    guard !key.isEmpty else {
      throw LMDBError(
        .keySize(byteCount: 0, limit: Limits.keySizeInBytes), operation: "move a cursor")
    }
    engineKey = MDB_val(key)
    return try move(operation)
  }

  private mutating func store(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ flags: UInt32,
    _ operation: StaticString
  ) throws(LMDBError) {
    try checkUsable(operation)
    if tree.usesIntegerKeys {
      guard key.count == 8 else {
        throw LMDBError(.keyKind(treeUsesIntegerKeys: true), operation: operation)
      }
    }
    try tree.check(key.count, tree.environmentNumber, operation)
    try Tree.checkValueSize(value.count, operation)
    engineKey = MDB_val(key)
    engineValue = MDB_val(value)
    let code = mdb_cursor_put(raw, &engineKey, &engineValue, flags)
    // The engine leaves the caller's pointers in place, which may not outlive this call.
    forgetEntry()
    if code == MDB_KEYEXIST { throw LMDBError(engine: code, operation: operation) }
    if code != MDB_SUCCESS { throw failure(code, operation) }
  }

  @inline(__always)
  private mutating func withBytes<Result>(
    of key: UInt64,
    _ body: (inout Cursor, UnsafeRawBufferPointer) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result {
    guard tree.usesIntegerKeys else {
      throw LMDBError(.keyKind(treeUsesIntegerKeys: false), operation: "move a cursor")
    }
    var integer = key
    return try withUnsafeMutableBytes(of: &integer) { (bytes) throws(LMDBError) in
      try body(&self, UnsafeRawBufferPointer(bytes))
    }
  }

  @inline(__always)
  private mutating func forgetEntry() {
    engineKey = MDB_val()
    engineValue = MDB_val()
  }

  @inline(__always)
  private func checkUsable(_ operation: StaticString) throws(LMDBError) {
    if let session, session.isFinished {
      throw LMDBError(.transactionEnded, operation: operation)
    }
  }

  @inline(never)
  private func failure(_ code: Int32, _ operation: StaticString) -> LMDBError {
    let error = environment.failure(code, operation)
    session?.note(error)
    return error
  }
}
