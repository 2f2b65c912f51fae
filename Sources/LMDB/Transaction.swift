import CLMDB
import LodestoreBytes
import LodestoreSystem

/// A transaction in progress, with the calls that read.
///
/// The calls that change trees belong to ``WritingTransaction``. A read has none of that type, so
/// the compiler refuses a change within a read.
///
/// A transaction is a plain handle. Copies are valid only within the closure that received the
/// handle, and are not kept beyond it. Returned pointers are in the map; in a read they
/// are valid until the closure ends, in a write until the next change.
package struct Transaction {
  let handle: OpaquePointer
  package unowned(unsafe) let environment: Environment
  /// Whether the transaction reads pages without LMDB; stored here, because each call needs it.
  let isInPages: Bool

  init(handle: OpaquePointer, environment: Environment) {
    self.handle = handle
    self.environment = environment
    isInPages = environment.isInPages
  }

  /// The number of the commit that a read sees; in a write, the number that the commit will have.
  package var id: UInt64 {
    if let pageRead { return pageRead.snapshot.transaction }
    return UInt64(bitPattern: Int64(mdb_txn_id(handle)))
  }

  /// The value under `key`; `nil` when the tree lacks the key.
  @inline(__always)
  package func get(_ key: ByteView, in tree: Tree) throws(LMDBError) -> ByteView? {
    guard tree.takesKey(ofSize: key.count) else { return nil }
    if isInPages { return try valueInPages(key, in: tree) }
    var key = MDB_val(key)
    var value = MDB_val()
    let code = mdb_get(handle, tree.handle, &key, &value)
    if code == 0 { return ByteView(value) }
    if code == MDB_NOTFOUND { return nil }
    throw failure(code, "get from \(tree.name)")
  }

  /// The value under an integer key; `nil` when the tree lacks the key.
  @inline(__always)
  package func get(_ key: UInt64, in tree: Tree) throws(LMDBError) -> ByteView? {
    if isInPages { return try valueInPages(key, in: tree) }
    var key = key
    var keyValue = MDB_val()
    var value = MDB_val()
    let code = withUnsafeMutableBytes(of: &key) { bytes in
      keyValue.mv_size = 8
      keyValue.mv_data = bytes.baseAddress
      return mdb_get(handle, tree.handle, &keyValue, &value)
    }
    if code == 0 { return ByteView(value) }
    if code == MDB_NOTFOUND { return nil }
    throw failure(code, "get from \(tree.name)")
  }

  package func get(_ key: [UInt8], in tree: Tree) throws(LMDBError) -> ByteView? {
    // The result points into the map, not into `key`.
    let key = key
    var result: ByteView?
    try key._withBytes { (bytes) throws(LMDBError) in result = try get(bytes, in: tree) }
    return result
  }

  package func statistics(of tree: Tree) throws(LMDBError) -> TreeStatistics {
    if let pageRead {
      guard
        let statistics = TreeStatistics(try pageRead.tree(tree).record, pageSize: pageRead.pageSize)
      else { throw failure(MDB_CORRUPTED, "stat of \(tree.name)") }
      return statistics
    }
    var stat = MDB_stat()
    try check(mdb_stat(handle, tree.handle, &stat), "stat of \(tree.name)")
    guard let statistics = TreeStatistics(stat) else {
      throw failure(MDB_CORRUPTED, "stat of \(tree.name)")
    }
    return statistics
  }

  package func count(of tree: Tree) throws(LMDBError) -> Int { try statistics(of: tree).entries }

  /// The number of free pages of the file.
  ///
  /// - Parameter commit: If given, only pages that commits after `commit` freed are counted.
  package func freePageCount(after commit: UInt64 = 0) throws(LMDBError) -> Int {
    let cursor = try Cursor(.freeList, in: self)
    var count = 0
    var found = try cursor.seek(atOrAfter: commit &+ 1)
    while found {
      let word = EngineTree.freeListWord
      if cursor.value.count >= word {
        // A record is a count followed by that many page numbers, or fewer if it is damaged.
        let listed = cursor.value.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
        guard let length = Int(exactly: listed), length <= cursor.value.count / word else {
          throw failure(MDB_CORRUPTED, "count free pages")
        }
        count += length
      }
      found = try cursor.next()
    }
    return count
  }

  /// The names of all trees with their numbers of entries; 0 for an entry that is not a tree.
  package func namedTrees() throws(LMDBError) -> [(name: String, entryCount: UInt64)] {
    let cursor = try Cursor(.names, in: self)
    var trees: [(name: String, entryCount: UInt64)] = []
    var found = try cursor.first()
    while found {
      let record = cursor.value
      let entryCount =
        record.count == TreeRecordLayout.size
        ? record.loadUnaligned(fromByteOffset: TreeRecordLayout.entries, as: UInt64.self) : 0
      trees.append((environment.format.name(ofTree: cursor.key), entryCount))
      found = try cursor.next()
    }
    return trees
  }

  /// The names of all trees.
  package func treeNames() throws(LMDBError) -> [String] { try namedTrees().map(\.name) }

  @inline(__always)
  func check(_ code: Int32, _ operation: @autoclosure () -> String) throws(LMDBError) {
    if code != 0 { throw failure(code, operation()) }
  }

  /// The error for `code`.
  ///
  /// In a write, the call also marks the transaction as failed.
  @inline(never)
  func failure(_ code: Int32, _ operation: String) -> LMDBError {
    let code = EngineDifferences.code(code)
    // A positive code is an error of the system. In a write such an error comes from pages that
    // LMDB wrote to the disk before the commit.
    let isOfDisk = code > 0 && code != EINVAL && code != ENOMEM && code != EACCES
    let error =
      isOfDisk && environment.isActiveWrite(handle)
      ? environment.ioFailure(code, operation: operation)
      : LMDBError(code: code, operation: operation)
    environment.noteFailure(error, in: handle)
    return error
  }
}

extension MDB_val {
  @inline(__always)
  init(_ bytes: ByteView) {
    self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }
}

extension ByteView {
  @inline(__always)
  init(_ value: MDB_val) { self.init(start: value.mv_data, count: value.mv_size) }
}
