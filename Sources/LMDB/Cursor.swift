import CLMDB
import LodestoreBytes

/// A position in a tree, which moves in key order; a ``WritingCursor`` also changes the pairs.
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
  let environment: Environment
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

  /// Creates a cursor that reads within a write.
  package convenience init(
    _ tree: Tree, in transaction: WritingTransaction
  ) throws(LMDBError) {
    try self.init(tree, in: transaction.reads)
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
}
