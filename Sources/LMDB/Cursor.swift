import CLMDB
import LodestoreBytes

/// A position in a tree, which moves in key order.
///
/// A cursor belongs to its transaction: do not use it outside the closure. `key` and `value` belong
/// to the last move that returned true, and are valid until the next change.
///
/// LMDB frees the cursors of a write when the write ends. The cursor of a read must be closed by
/// its owner. A cursor that is used after its write throws an error and is not freed twice. A
/// cursor of a read whose transaction may have been freed is closed by
/// ``Environment/closeStray(_:)``.
@_documentation(visibility: internal)
public final class Cursor {
  /// LMDB's cursor.
  ///
  /// If ``pages`` is set, no LMDB function may be called with it.
  let handle: OpaquePointer
  /// The cursor of an environment that is read without LMDB.
  private let pages: PageCursor?
  let tree: Tree
  let transaction: Transaction
  private let environment: Environment
  /// The number of writes that had ended when the cursor was created in a write; −1 in a read.
  private let write: Int
  /// The number of reads that had been freed when the cursor was created.
  private let freedReadCount: Int
  // One thread uses a cursor, and its key and value are never passed inout. Checks of exclusive
  // access would cost a walk as much as LMDB itself.
  @exclusivity(unchecked) @usableFromInline var currentKey = MDB_val()
  @exclusivity(unchecked) @usableFromInline var currentValue = MDB_val()

  package init(_ tree: Tree, in transaction: Transaction) throws(LMDBError) {
    self.tree = tree
    self.transaction = transaction
    environment = transaction.environment
    if let read = transaction.pageRead {
      pages = PageCursor(try read.tree(tree).pages)
      handle = transaction.handle
      freedReadCount = 0
      write = -1
      return
    }
    var opened: OpaquePointer?
    let code = mdb_cursor_open(transaction.handle, tree.handle, &opened)
    guard code == 0, let opened else {
      throw LMDBError(code: code, operation: "open a cursor in \(tree.name)")
    }
    pages = nil
    handle = opened
    freedReadCount = environment.freedReadCount.load(ordering: .relaxed)
    write =
      environment.isActiveWrite(transaction.handle)
      ? environment.endedWriteCount.load(ordering: .relaxed) : -1
  }

  deinit {
    guard pages == nil, isAlive else { return }
    let mayBeStray =
      write < 0 && EngineDifferences.closingReadsTransaction
      && environment.freedReadCount.load(ordering: .acquiring) != freedReadCount
    if mayBeStray { environment.closeStray(handle) } else { mdb_cursor_close(handle) }
  }

  @inline(__always)
  private var isAlive: Bool {
    write < 0 || environment.endedWriteCount.load(ordering: .relaxed) == write
  }

  /// Throws if the cursor's write has ended.
  ///
  /// Call it before each use: it costs one comparison and prevents a use of freed memory.
  @inline(__always)
  func checkAlive() throws(LMDBError) {
    if !isAlive { throw LMDBError(code: MDB_BAD_TXN, operation: "use a cursor of \(tree.name)") }
  }

  /// The key of the pair at the cursor.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public var key: ByteView { ByteView(start: currentKey.mv_data, count: currentKey.mv_size) }

  /// The value of the pair at the cursor.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public var value: ByteView { ByteView(start: currentValue.mv_data, count: currentValue.mv_size) }

  /// The key of the pair at the cursor, in a record tree.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public var integerKey: UInt64 { key.count == 8 ? key.loadUnaligned(as: UInt64.self) : 0 }

  @inline(__always)
  private func move(_ operation: MDB_cursor_op) throws(LMDBError) -> Bool {
    try checkAlive()
    if let pages { return try move(pages, operation) }
    let code = mdb_cursor_get(handle, &currentKey, &currentValue, operation)
    if code == 0 { return true }
    // Key and value may still point to the caller's key, or to a page that is no longer valid.
    currentKey = MDB_val()
    currentValue = MDB_val()
    if code == MDB_NOTFOUND { return false }
    throw transaction.failure(code, "walk \(tree.name)")
  }

  /// Moves within an environment that is read without LMDB.
  @inline(__always)
  private func move(_ pages: PageCursor, _ operation: MDB_cursor_op) throws(LMDBError) -> Bool {
    let key = ByteView(currentKey)
    do throws(PageError) {
      let pair =
        switch operation {
        case MDB_NEXT: try pages.next()
        case MDB_PREV: try pages.previous()
        case MDB_SET_KEY: try pages.seek(key)
        case MDB_SET_RANGE: try pages.seek(atOrAfter: key)
        case MDB_FIRST: try pages.first()
        default: try pages.last()
        }
      guard let pair else {
        currentKey = MDB_val()
        currentValue = MDB_val()
        return false
      }
      currentKey = MDB_val(pair.key)
      currentValue = MDB_val(pair.value)
      return true
    } catch {
      currentKey = MDB_val()
      currentValue = MDB_val()
      throw LMDBError(error, operation: "walk \(tree.name)", path: environment.path)
    }
  }

  package func first() throws(LMDBError) -> Bool { try move(MDB_FIRST) }
  package func last() throws(LMDBError) -> Bool { try move(MDB_LAST) }

  /// Moves to the next pair; from a cursor that has not moved yet, to the first pair.
  @inline(__always)
  package func next() throws(LMDBError) -> Bool { try move(MDB_NEXT) }

  /// Moves to the previous pair; from a cursor that has not moved yet, to the last pair.
  @inline(__always)
  package func previous() throws(LMDBError) -> Bool { try move(MDB_PREV) }

  /// Moves to `key`; returns false if the tree lacks it.
  @inline(__always)
  package func seek(_ key: ByteView) throws(LMDBError) -> Bool {
    guard tree.takesKey(ofSize: key.count) else { return false }
    currentKey = MDB_val(key)
    return try move(MDB_SET_KEY)
  }

  /// Moves to the first pair at or after `key`.
  @inline(__always)
  package func seek(atOrAfter key: ByteView) throws(LMDBError) -> Bool {
    guard !key.isEmpty else { return try first() }
    guard !tree.hasIntegerKeys || key.count == 8 else {
      throw LMDBError(.keySize(key.count), operation: "walk \(tree.name)")
    }
    currentKey = MDB_val(key)
    return try move(MDB_SET_RANGE)
  }

  /// Moves to the last pair before `key`.
  package func seek(before key: ByteView) throws(LMDBError) -> Bool {
    try seek(atOrAfter: key) ? previous() : last()
  }

  package func seek(atOrAfter key: [UInt8]) throws(LMDBError) -> Bool {
    try key._withBytes { (bytes) throws(LMDBError) in try seek(atOrAfter: bytes) }
  }

  package func seek(_ key: UInt64) throws(LMDBError) -> Bool {
    try withUnsafeBytes(of: key) { (bytes) throws(LMDBError) in try seek(ByteView(bytes)) }
  }

  package func seek(atOrAfter key: UInt64) throws(LMDBError) -> Bool {
    try withUnsafeBytes(of: key) { (bytes) throws(LMDBError) in
      try seek(atOrAfter: ByteView(bytes))
    }
  }

  // MARK: Writing

  /// The maximum size of a value in bytes.
  ///
  /// LMDB's own limit is higher.
  static let largestValue = 1 << 30

  @inline(never)
  func refusal(ofKeyOfSize size: Int) -> LMDBError {
    LMDBError(.keySize(size), operation: "put into \(tree.name)")
  }

  @inline(never)
  func refusal(ofValueOfSize size: Int) -> LMDBError {
    LMDBError(.valueSize(size), operation: "put into \(tree.name)")
  }

  @inline(__always)
  private func put(_ key: ByteView, _ value: ByteView, _ flags: UInt32) throws(LMDBError) -> Bool {
    try checkAlive()
    guard tree.takesKey(ofSize: key.count) else { throw refusal(ofKeyOfSize: key.count) }
    guard value.count <= Self.largestValue else { throw refusal(ofValueOfSize: value.count) }
    var key = MDB_val(key)
    var value = MDB_val(value)
    let code = mdb_cursor_put(handle, &key, &value, flags)
    if code == MDB_KEYEXIST { return false }
    try transaction.check(code, "put into \(tree.name)")
    environment.hasWritten = true
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
    try checkAlive()
    guard tree.takesKey(ofSize: 8) else { throw refusal(ofKeyOfSize: 8) }
    guard byteCount >= 0, byteCount <= Self.largestValue else {
      throw refusal(ofValueOfSize: byteCount)
    }
    var key = key
    var value = MDB_val(mv_size: byteCount, mv_data: nil)
    let code = withUnsafeMutableBytes(of: &key) { bytes in
      var keyValue = MDB_val(mv_size: 8, mv_data: bytes.baseAddress)
      return mdb_cursor_put(handle, &keyValue, &value, UInt32(MDB_APPEND | MDB_RESERVE))
    }
    if code == MDB_KEYEXIST { return nil }
    try transaction.check(code, "put into \(tree.name)")
    environment.hasWritten = true
    return MutableByteView(start: value.mv_data, count: value.mv_size)
  }

  /// Replaces the value of the record at the cursor.
  ///
  /// A value of the same size is written in place.
  package func replaceCurrent(with value: ByteView) throws(LMDBError) {
    // Only trees with integer keys use this method. The key is copied, because LMDB may copy the
    // page that contains it.
    try withUnsafeBytes(of: integerKey) { (key) throws(LMDBError) in
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
    try checkAlive()
    // Reserving a value of the same size preserves its bytes in a leaf page, but not in overflow
    // pages.
    guard environment.readsPages, currentValue.mv_size <= PageLayout.longestSharedValue else {
      return nil
    }
    return try reserveCurrent()
  }

  /// Reserves the value of the record at the cursor again, with the same size.
  @inline(__always)
  func reserveCurrent() throws(LMDBError) -> MutableByteView {
    var id = integerKey
    var value = MDB_val(mv_size: currentValue.mv_size, mv_data: nil)
    let code = withUnsafeMutableBytes(of: &id) { bytes in
      var key = MDB_val(mv_size: 8, mv_data: bytes.baseAddress)
      return mdb_cursor_put(handle, &key, &value, UInt32(MDB_CURRENT | MDB_RESERVE))
    }
    try transaction.check(code, "put into \(tree.name)")
    environment.hasWritten = true
    currentValue = value
    return MutableByteView(start: value.mv_data, count: value.mv_size)
  }

  /// Deletes the pair at the cursor.
  ///
  /// The next forward move goes to the pair after it. Seek again before moving back.
  package func delete() throws(LMDBError) {
    try checkAlive()
    try transaction.check(mdb_cursor_del(handle, 0), "delete from \(tree.name)")
    environment.hasWritten = true
  }
}

// MARK: Many pairs

/// Appends of many pairs with ascending keys, stored contiguously in memory. The checks of a single
/// put are made once for all.
extension Cursor {
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
      environment.hasWritten = true
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
      environment.hasWritten = true
      start = ends[index]
    }
    return ends.count
  }
}
