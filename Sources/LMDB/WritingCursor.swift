import CLMDB
import LodestoreBytes

/// A position in a tree of a write, with the calls that change pairs there.
///
/// ``reads`` is the cursor itself, which moves and has the key and the value.
package struct WritingCursor {
  package let reads: Cursor

  package init(_ tree: Tree, in transaction: WritingTransaction) throws(LMDBError) {
    reads = try Cursor(tree, in: transaction.reads)
  }

  /// The maximum size of a value in bytes.
  ///
  /// LMDB's own limit is higher.
  static let largestValue = 1 << 30

  @inline(never)
  func refusal(ofKeyOfSize size: Int) -> LMDBError {
    LMDBError(.keySize(size), operation: "put into \(reads.tree.name)")
  }

  @inline(never)
  func refusal(ofValueOfSize size: Int) -> LMDBError {
    LMDBError(.valueSize(size), operation: "put into \(reads.tree.name)")
  }

  @inline(__always)
  private func put(_ key: ByteView, _ value: ByteView, _ flags: UInt32) throws(LMDBError) -> Bool {
    try reads.checkAlive()
    guard reads.tree.takesKey(ofSize: key.count) else { throw refusal(ofKeyOfSize: key.count) }
    guard value.count <= Self.largestValue else { throw refusal(ofValueOfSize: value.count) }
    var key = MDB_val(key)
    var value = MDB_val(value)
    let code = mdb_cursor_put(reads.handle, &key, &value, flags)
    if code == MDB_KEYEXIST { return false }
    try reads.transaction.check(code, "put into \(reads.tree.name)")
    reads.environment.noteWrite()
    return true
  }

  /// Stores a pair.
  ///
  /// Keys in ascending order stay on the same page, so a sorted run is fast.
  package func put(_ key: ByteView, _ value: ByteView) throws(LMDBError) {
    _ = try put(key, value, 0)
  }

  /// Stores a pair whose key is above all others, and fills pages completely.
  ///
  /// If the key is not above all others, stores nothing and returns false.
  package func append(_ key: ByteView, _ value: ByteView) throws(LMDBError) -> Bool {
    try put(key, value, UInt32(MDB_APPEND))
  }

  /// Appends a record and returns its bytes in the page.
  ///
  /// Fill them before the next change.
  package func appendReserving(
    _ key: UInt64, byteCount: Int
  ) throws(LMDBError) -> MutableByteView? {
    try reads.checkAlive()
    guard reads.tree.takesKey(ofSize: 8) else { throw refusal(ofKeyOfSize: 8) }
    guard byteCount >= 0, byteCount <= Self.largestValue else {
      throw refusal(ofValueOfSize: byteCount)
    }
    var key = key
    var value = MDB_val(mv_size: byteCount, mv_data: nil)
    let code = withUnsafeMutableBytes(of: &key) { bytes in
      var keyValue = MDB_val(mv_size: 8, mv_data: bytes.baseAddress)
      return mdb_cursor_put(reads.handle, &keyValue, &value, UInt32(MDB_APPEND | MDB_RESERVE))
    }
    if code == MDB_KEYEXIST { return nil }
    try reads.transaction.check(code, "put into \(reads.tree.name)")
    reads.environment.noteWrite()
    return MutableByteView(start: value.mv_data, count: value.mv_size)
  }

  /// Replaces the value of the record at the cursor.
  ///
  /// A value of the same size is written in place.
  package func replaceCurrent(with value: ByteView) throws(LMDBError) {
    assert(reads.tree.hasIntegerKeys, "only records are replaced at the cursor")
    // The key is copied, because LMDB may copy the page that contains it.
    try withUnsafeBytes(of: reads.integerKey) { (key) throws(LMDBError) in
      _ = try put(ByteView(key), value, UInt32(MDB_CURRENT))
    }
  }

  /// The stored bytes of the record at the cursor, in a page of this transaction.
  ///
  /// Change them before the next call.
  ///
  /// Returns `nil` and does nothing if the record may be in overflow pages, or with the plain
  /// engine. Use ``replaceCurrent(with:)`` then.
  package func changeableCurrent() throws(LMDBError) -> MutableByteView? {
    try reads.checkAlive()
    // Reserving a value of the same size preserves its bytes in a leaf page, but not in overflow
    // pages.
    guard reads.environment.readsPages,
      reads.currentValue.mv_size <= PageLayout.longestSharedValue
    else { return nil }
    return try reserveCurrent()
  }

  /// Reserves the value of the record at the cursor again, with the same size.
  @inline(__always)
  func reserveCurrent() throws(LMDBError) -> MutableByteView {
    var id = reads.integerKey
    var value = MDB_val(mv_size: reads.currentValue.mv_size, mv_data: nil)
    let code = withUnsafeMutableBytes(of: &id) { bytes in
      var key = MDB_val(mv_size: 8, mv_data: bytes.baseAddress)
      return mdb_cursor_put(reads.handle, &key, &value, UInt32(MDB_CURRENT | MDB_RESERVE))
    }
    try reads.transaction.check(code, "put into \(reads.tree.name)")
    reads.environment.noteWrite()
    reads.currentValue = value
    return MutableByteView(start: value.mv_data, count: value.mv_size)
  }

  /// Deletes the pair at the cursor.
  ///
  /// The next forward move goes to the pair after it. Seek again before moving back.
  package func delete() throws(LMDBError) {
    try reads.checkAlive()
    try reads.transaction.check(mdb_cursor_del(reads.handle, 0), "delete from \(reads.tree.name)")
    reads.environment.noteWrite()
  }
}

// MARK: Many pairs

/// Appends of many pairs with ascending keys, stored contiguously in memory. The checks of a single
/// put are made once for all.
extension WritingCursor {
  /// Appends records with the ids from `nextID`.
  ///
  /// `ends` has the offset at which each record ends.
  ///
  /// Afterwards `nextID` is the id after the last stored record.
  ///
  /// - Returns: False, without storing the rest, if a record with the id `nextID` or a higher id
  ///   exists.
  package func append(
    records: UnsafeRawPointer, ends: UnsafeBufferPointer<Int>, nextID: inout UInt64
  ) throws(LMDBError) -> Bool {
    try reads.checkAlive()
    guard reads.tree.takesKey(ofSize: 8) else { throw refusal(ofKeyOfSize: 8) }
    var start = 0
    for end in ends {
      guard end &- start <= Self.largestValue else { throw refusal(ofValueOfSize: end - start) }
      var value = MDB_val(
        mv_size: end &- start, mv_data: UnsafeMutableRawPointer(mutating: records + start))
      var id = nextID
      let code = withUnsafeMutableBytes(of: &id) { bytes in
        var key = MDB_val(mv_size: 8, mv_data: bytes.baseAddress)
        return mdb_cursor_put(reads.handle, &key, &value, UInt32(MDB_APPEND))
      }
      if code == MDB_KEYEXIST { return false }
      try reads.transaction.check(code, "put into \(reads.tree.name)")
      reads.environment.noteWrite()
      nextID &+= 1
      start = end
    }
    return true
  }

  /// Appends pairs with ascending keys.
  ///
  /// `ends` has the offset at which each key ends.
  ///
  /// - Parameter values: A little-endian number for each key. Without it the values are empty.
  /// - Returns: The number of pairs stored. The number is smaller than the number of keys if the
  ///   next key is not above all stored keys.
  package func append(
    keys: UnsafeRawPointer, ends: UnsafeBufferPointer<Int>, values: UnsafePointer<UInt64>?
  ) throws(LMDBError) -> Int {
    try reads.checkAlive()
    let valueSize = values == nil ? 0 : 8
    let valueBase = values.map { UnsafeRawPointer($0) } ?? keys
    var start = 0
    for index in ends.indices {
      let size = ends[index] &- start
      guard reads.tree.takesKey(ofSize: size) else { throw refusal(ofKeyOfSize: size) }
      var key = MDB_val(mv_size: size, mv_data: UnsafeMutableRawPointer(mutating: keys + start))
      var value = MDB_val(
        mv_size: valueSize,
        mv_data: UnsafeMutableRawPointer(mutating: valueBase + index &* valueSize))
      let code = mdb_cursor_put(reads.handle, &key, &value, UInt32(MDB_APPEND))
      if code == MDB_KEYEXIST { return index }
      try reads.transaction.check(code, "put into \(reads.tree.name)")
      reads.environment.noteWrite()
      start = ends[index]
    }
    return ends.count
  }
}
