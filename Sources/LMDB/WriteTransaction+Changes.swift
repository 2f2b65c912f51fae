internal import CLMDB

extension WriteTransaction {
  /// Stores `value` under `key`, in place of what is there.
  package borrowing func put(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in tree: Tree
  ) throws(LMDBError) {
    try withKey(key, tree, "put a value") { (engineKey) throws(LMDBError) in
      try put(&engineKey, value, tree, 0, "put a value")
    }
  }

  /// Stores `value` under `key`, in place of what is there.
  package borrowing func put(
    _ key: UInt64, _ value: UnsafeRawBufferPointer, in tree: Tree
  ) throws(LMDBError) {
    try withKey(key, tree, "put a value") { (engineKey) throws(LMDBError) in
      try put(&engineKey, value, tree, 0, "put a value")
    }
  }

  /// Stores `value` under `key` unless there is a value. Returns whether it was stored.
  package borrowing func putIfAbsent(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in tree: Tree
  ) throws(LMDBError) -> Bool {
    try withKey(key, tree, "put a value") { (engineKey) throws(LMDBError) in
      try putIfAbsent(&engineKey, value, tree)
    }
  }

  /// Stores `value` under `key` unless there is a value. Returns whether it was stored.
  package borrowing func putIfAbsent(
    _ key: UInt64, _ value: UnsafeRawBufferPointer, in tree: Tree
  ) throws(LMDBError) -> Bool {
    try withKey(key, tree, "put a value") { (engineKey) throws(LMDBError) in
      try putIfAbsent(&engineKey, value, tree)
    }
  }

  /// Stores `value` under a `key` greater than all in the tree. Packs pages full.
  ///
  /// - Throws: MDB_KEYEXIST if the key is not greater; the transaction is then as it was.
  package borrowing func append(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, in tree: Tree
  ) throws(LMDBError) {
    try withKey(key, tree, "append a value") { (engineKey) throws(LMDBError) in
      try put(&engineKey, value, tree, UInt32(MDB_APPEND), "append a value")
    }
  }

  /// Stores `value` under a `key` greater than all in the tree. Packs pages full.
  ///
  /// - Throws: MDB_KEYEXIST if the key is not greater; the transaction is then as it was.
  package borrowing func append(
    _ key: UInt64, _ value: UnsafeRawBufferPointer, in tree: Tree
  ) throws(LMDBError) {
    try withKey(key, tree, "append a value") { (engineKey) throws(LMDBError) in
      try put(&engineKey, value, tree, UInt32(MDB_APPEND), "append a value")
    }
  }

  /// Makes room for a value of `byteCount` bytes under `key`, in place of what is there.
  ///
  /// The caller fills all of it before the next call on this transaction: it holds old bytes.
  ///
  /// - Parameter isAppending: Whether `key` is greater than all in the tree, as for `append`.
  package borrowing func reserve(
    _ key: UnsafeRawBufferPointer, byteCount: Int, in tree: Tree, isAppending: Bool = false
  ) throws(LMDBError) -> UnsafeMutableRawBufferPointer {
    try withKey(key, tree, "reserve room for a value") { (engineKey) throws(LMDBError) in
      try reserve(&engineKey, byteCount, tree, isAppending)
    }
  }

  /// Makes room for a value of `byteCount` bytes under `key`, in place of what is there.
  ///
  /// The caller fills all of it before the next call on this transaction: it holds old bytes.
  ///
  /// - Parameter isAppending: Whether `key` is greater than all in the tree, as for `append`.
  package borrowing func reserve(
    _ key: UInt64, byteCount: Int, in tree: Tree, isAppending: Bool = false
  ) throws(LMDBError) -> UnsafeMutableRawBufferPointer {
    try withKey(key, tree, "reserve room for a value") { (engineKey) throws(LMDBError) in
      try reserve(&engineKey, byteCount, tree, isAppending)
    }
  }

  /// Removes `key` and its value. Returns whether it was there.
  package borrowing func delete(
    _ key: UnsafeRawBufferPointer, in tree: Tree
  ) throws(LMDBError) -> Bool {
    try withKey(key, tree, "delete a value") { (engineKey) throws(LMDBError) in
      try delete(&engineKey, tree)
    }
  }

  /// Removes `key` and its value. Returns whether it was there.
  package borrowing func delete(_ key: UInt64, in tree: Tree) throws(LMDBError) -> Bool {
    try withKey(key, tree, "delete a value") { (engineKey) throws(LMDBError) in
      try delete(&engineKey, tree)
    }
  }

  @inline(__always)
  private borrowing func withKey<Result>(
    _ key: UnsafeRawBufferPointer, _ tree: Tree, _ operation: StaticString,
    _ body: (inout MDB_val) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result {
    if tree.usesIntegerKeys {
      return try withKey(tree.integer(from: key, operation: operation), tree, operation, body)
    }
    try tree.check(key.count, reading.environmentNumber, operation)
    var engineKey = MDB_val(key)
    return try body(&engineKey)
  }

  @inline(__always)
  private borrowing func withKey<Result>(
    _ key: UInt64, _ tree: Tree, _ operation: StaticString,
    _ body: (inout MDB_val) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result {
    try tree.checkIntegerKeys(reading.environmentNumber, operation)
    var integer = key
    return try withUnsafeMutableBytes(of: &integer) { (bytes) throws(LMDBError) in
      var engineKey = MDB_val(UnsafeRawBufferPointer(bytes))
      return try body(&engineKey)
    }
  }

  @inline(__always)
  private borrowing func put(
    _ key: inout MDB_val, _ value: UnsafeRawBufferPointer, _ tree: Tree, _ flags: UInt32,
    _ operation: StaticString
  ) throws(LMDBError) {
    try Tree.checkValueSize(value.count, operation)
    var engineValue = MDB_val(value)
    let code = mdb_put(reading.raw, tree.handle, &key, &engineValue, flags)
    if code != MDB_SUCCESS { throw changeFailure(code, operation) }
  }

  private borrowing func putIfAbsent(
    _ key: inout MDB_val, _ value: UnsafeRawBufferPointer, _ tree: Tree
  ) throws(LMDBError) -> Bool {
    try Tree.checkValueSize(value.count, "put a value")
    var engineValue = MDB_val(value)
    let flags = UInt32(MDB_NOOVERWRITE)
    let code = mdb_put(reading.raw, tree.handle, &key, &engineValue, flags)
    if code == MDB_SUCCESS { return true }
    if code == MDB_KEYEXIST { return false }
    throw changeFailure(code, "put a value")
  }

  private borrowing func reserve(
    _ key: inout MDB_val, _ byteCount: Int, _ tree: Tree, _ isAppending: Bool
  ) throws(LMDBError) -> UnsafeMutableRawBufferPointer {
    try Tree.checkValueSize(byteCount, "reserve room for a value")
    var engineValue = MDB_val(mv_size: byteCount, mv_data: nil)
    let flags = UInt32(isAppending ? MDB_RESERVE | MDB_APPEND : MDB_RESERVE)
    let code = mdb_put(reading.raw, tree.handle, &key, &engineValue, flags)
    if code != MDB_SUCCESS { throw changeFailure(code, "reserve room for a value") }
    return UnsafeMutableRawBufferPointer(start: engineValue.mv_data, count: byteCount)
  }

  private borrowing func delete(_ key: inout MDB_val, _ tree: Tree) throws(LMDBError) -> Bool {
    let code = mdb_del(reading.raw, tree.handle, &key, nil)
    if code == MDB_SUCCESS { return true }
    if code == MDB_NOTFOUND { return false }
    throw changeFailure(code, "delete a value")
  }

  /// A key that exists is an answer and leaves the transaction whole; everything else breaks it.
  @inline(never)
  private borrowing func changeFailure(_ code: Int32, _ operation: StaticString) -> LMDBError {
    code == MDB_KEYEXIST
      ? LMDBError(engine: code, operation: operation) : reading.failure(code, operation)
  }
}
