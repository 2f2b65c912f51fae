import CLMDB

/// A position in a tree that moves in key order.
///
/// Made within a transaction and gone with it: do not keep one beyond the closure. `key` and
/// `value` are those of the last move that returned true, and valid until the next change.
package final class Cursor {
  private let handle: OpaquePointer
  private let tree: Tree
  private let transaction: Transaction
  private var currentKey = MDB_val()
  private var currentValue = MDB_val()

  package init(_ tree: Tree, in transaction: Transaction) throws(LMDBError) {
    var opened: OpaquePointer?
    let code = mdb_cursor_open(transaction.handle, tree.handle, &opened)
    guard code == 0, let opened else {
      throw LMDBError(code: code, operation: "open a cursor in \(tree.name)")
    }
    handle = opened
    self.tree = tree
    self.transaction = transaction
  }

  deinit { mdb_cursor_close(handle) }

  package var key: UnsafeRawBufferPointer { UnsafeRawBufferPointer(currentKey) }
  package var value: UnsafeRawBufferPointer { UnsafeRawBufferPointer(currentValue) }

  /// The key of a record tree.
  package var integerKey: UInt64 {
    key.count == 8 ? key.loadUnaligned(as: UInt64.self) : 0
  }

  @inline(__always)
  private func move(_ operation: MDB_cursor_op) throws(LMDBError) -> Bool {
    let code = mdb_cursor_get(handle, &currentKey, &currentValue, operation)
    if code == 0 { return true }
    if code == MDB_NOTFOUND { return false }
    throw LMDBError(code: code, operation: "walk \(tree.name)")
  }

  package func first() throws(LMDBError) -> Bool { try move(MDB_FIRST) }
  package func last() throws(LMDBError) -> Bool { try move(MDB_LAST) }

  /// Moves on; from a cursor that has not been placed, to the first pair.
  @inline(__always)
  package func next() throws(LMDBError) -> Bool { try move(MDB_NEXT) }

  /// Moves back; from a cursor that has not been placed, to the last pair.
  @inline(__always)
  package func previous() throws(LMDBError) -> Bool { try move(MDB_PREV) }

  /// Moves to `key` itself.
  @inline(__always)
  package func seek(_ key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
    guard key.count >= 1, key.count <= 511 else { return false }
    currentKey = MDB_val(key)
    return try move(MDB_SET_KEY)
  }

  /// Moves to the first pair at or after `key`.
  @inline(__always)
  package func seek(atOrAfter key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
    guard !key.isEmpty else { return try first() }
    currentKey = MDB_val(key)
    return try move(MDB_SET_RANGE)
  }

  /// Moves to the last pair before `key`.
  package func seek(before key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
    try seek(atOrAfter: key) ? previous() : last()
  }

  package func seek(_ key: UInt64) throws(LMDBError) -> Bool {
    try withUnsafeBytes(of: key) { (bytes) throws(LMDBError) in try seek(bytes) }
  }

  package func seek(atOrAfter key: UInt64) throws(LMDBError) -> Bool {
    try withUnsafeBytes(of: key) { (bytes) throws(LMDBError) in try seek(atOrAfter: bytes) }
  }

  // MARK: Writing

  @inline(__always)
  private func put(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ flags: UInt32
  ) throws(LMDBError) -> Bool {
    guard key.count >= 1, key.count <= 511 else {
      throw LMDBError(.keySize(key.count), operation: "put into \(tree.name)")
    }
    guard value.count <= 1 << 30 else {
      throw LMDBError(.valueSize(value.count), operation: "put into \(tree.name)")
    }
    var key = MDB_val(key)
    var value = MDB_val(value)
    let code = mdb_cursor_put(handle, &key, &value, flags)
    if code == MDB_KEYEXIST { return false }
    try transaction.check(code, "put into \(tree.name)")
    return true
  }

  /// Stores a pair; keys in ascending order stay on the same page, which makes a sorted run cheap.
  package func put(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(LMDBError) {
    _ = try put(key, value, 0)
  }

  /// Stores a pair unless the key is there; returns whether it did. Either way the cursor is at the
  /// key, and ``value`` is the stored value when it returns false.
  package func putIfAbsent(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(LMDBError) -> Bool {
    if try put(key, value, UInt32(MDB_NOOVERWRITE)) { return true }
    // LMDB hands the stored value back in its argument; asking again keeps that in one place.
    _ = try move(MDB_GET_CURRENT)
    return false
  }

  /// Stores a pair whose key is above all others, filling pages to the brim; returns false, and
  /// stores nothing, when it is not.
  package func append(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) throws(LMDBError) -> Bool {
    try put(key, value, UInt32(MDB_APPEND))
  }

  /// Appends a record and returns its bytes in the page, to be filled before the next change.
  package func appendReserving(
    _ key: UInt64, byteCount: Int
  ) throws(LMDBError) -> UnsafeMutableRawBufferPointer? {
    guard byteCount <= 1 << 30 else {
      throw LMDBError(.valueSize(byteCount), operation: "put into \(tree.name)")
    }
    var key = key
    var value = MDB_val(mv_size: byteCount, mv_data: nil)
    let code = withUnsafeMutableBytes(of: &key) { bytes in
      var keyValue = MDB_val(mv_size: 8, mv_data: bytes.baseAddress)
      return mdb_cursor_put(handle, &keyValue, &value, UInt32(MDB_APPEND | MDB_RESERVE))
    }
    if code == MDB_KEYEXIST { return nil }
    try transaction.check(code, "put into \(tree.name)")
    return UnsafeMutableRawBufferPointer(start: value.mv_data, count: value.mv_size)
  }

  /// Removes the pair at the cursor. The next move forward goes to the pair behind it; place the
  /// cursor anew before moving back.
  package func delete() throws(LMDBError) {
    try transaction.check(mdb_cursor_del(handle, 0), "delete from \(tree.name)")
  }
}
