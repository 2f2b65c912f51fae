import CLMDB

/// Many pairs in the order of their keys, which lie one behind the other in memory: what is checked for
/// each single one is checked once, and nothing is done between two of them but what LMDB does.
extension Cursor {
  /// Appends records, each of which ends at one of `ends`, under the ids from `nextID` on, which is the
  /// id after the last that was stored in the end.
  ///
  /// - Returns: false, with the rest not stored, when there is a record with `nextID` or above.
  package func append(
    records: UnsafeRawPointer, ends: UnsafeBufferPointer<Int>, nextID: inout UInt64
  ) throws(LMDBError) -> Bool {
    try checkAlive()
    guard tree.takesKey(ofSize: 8) else { throw refusal(ofKeyOfSize: 8) }
    var start = 0
    for end in ends {
      guard end &- start <= Self.largestValue else { throw refusal(ofValueOfSize: end - start) }
      var value = MDB_val(
        mv_size: end &- start, mv_data: UnsafeMutableRawPointer(mutating: records + start))
      var id = nextID
      let code = withUnsafeMutableBytes(of: &id) { bytes in
        var key = MDB_val(mv_size: 8, mv_data: bytes.baseAddress)
        return mdb_cursor_put(handle, &key, &value, UInt32(MDB_APPEND))
      }
      if code == MDB_KEYEXIST { return false }
      try transaction.check(code, "put into \(tree.name)")
      nextID &+= 1
      start = end
    }
    return true
  }

  /// Appends pairs whose keys ascend, each of which ends at one of `ends`: with the numbers at `values`,
  /// which are little-endian, or with nothing.
  ///
  /// - Returns: How many were stored: fewer than all when the next is not above what is there.
  package func append(
    keys: UnsafeRawPointer, ends: UnsafeBufferPointer<Int>, values: UnsafePointer<UInt64>?
  ) throws(LMDBError) -> Int {
    try checkAlive()
    let valueSize = values == nil ? 0 : 8
    let valueBase = values.map { UnsafeRawPointer($0) } ?? keys
    var start = 0
    for index in ends.indices {
      let size = ends[index] &- start
      guard tree.takesKey(ofSize: size) else { throw refusal(ofKeyOfSize: size) }
      var key = MDB_val(mv_size: size, mv_data: UnsafeMutableRawPointer(mutating: keys + start))
      var value = MDB_val(
        mv_size: valueSize,
        mv_data: UnsafeMutableRawPointer(mutating: valueBase + index &* valueSize))
      let code = mdb_cursor_put(handle, &key, &value, UInt32(MDB_APPEND))
      if code == MDB_KEYEXIST { return index }
      try transaction.check(code, "put into \(tree.name)")
      start = ends[index]
    }
    return ends.count
  }
}
