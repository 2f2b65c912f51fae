import CLMDB
import LodestoreBytes

/// A write transaction in progress: the calls that change trees, and ``reads`` for all others.
///
/// Only a write of an ``Environment`` makes a value of this type. A writing transaction is a plain
/// handle like ``Transaction``, with the same limits.
package struct WritingTransaction {
  /// This transaction with the calls that read.
  package let reads: Transaction

  /// - Parameter handle: LMDB's transaction, which must be one for writing.
  init(handle: OpaquePointer, environment: Environment) {
    reads = Transaction(handle: handle, environment: environment)
  }

  package var environment: Environment { reads.environment }

  /// Whether the running write can only be undone or repeated, because LMDB reported an error or a
  /// tree was opened meanwhile.
  package var hasFailed: Bool {
    environment.writeSide.firstFailure != nil || environment.writeSide.mustRestart
  }

  @inline(__always)
  private func put(
    _ key: ByteView, _ value: ByteView, in tree: Tree, _ flags: UInt32
  ) throws(LMDBError) -> Bool {
    guard tree.takesKey(ofSize: key.count) else {
      throw LMDBError(.keySize(key.count), operation: "put into \(tree.name)")
    }
    guard value.count <= WritingCursor.largestValue else {
      throw LMDBError(.valueSize(value.count), operation: "put into \(tree.name)")
    }
    var key = MDB_val(key)
    var value = MDB_val(value)
    let code = mdb_put(reads.handle, tree.handle, &key, &value, flags)
    if code == MDB_KEYEXIST { return false }
    try reads.check(code, "put into \(tree.name)")
    environment.noteWrite()
    return true
  }

  package func put(_ key: ByteView, _ value: ByteView, in tree: Tree) throws(LMDBError) {
    _ = try put(key, value, in: tree, 0)
  }

  package func put(_ key: [UInt8], _ value: [UInt8], in tree: Tree) throws(LMDBError) {
    try key._withBytes { (key) throws(LMDBError) in
      try value._withBytes { (value) throws(LMDBError) in try put(key, value, in: tree) }
    }
  }

  package func put(_ key: UInt64, _ value: ByteView, in tree: Tree) throws(LMDBError) {
    try withUnsafeBytes(of: key) { (bytes) throws(LMDBError) in
      try put(ByteView(bytes), value, in: tree)
    }
  }

  /// Deletes the pair under `key` and returns whether there was one.
  @discardableResult
  package func delete(_ key: ByteView, in tree: Tree) throws(LMDBError) -> Bool {
    guard tree.takesKey(ofSize: key.count) else { return false }
    var key = MDB_val(key)
    let code = mdb_del(reads.handle, tree.handle, &key, nil)
    if code == MDB_NOTFOUND { return false }
    try reads.check(code, "delete from \(tree.name)")
    environment.noteWrite()
    return true
  }

  @discardableResult
  package func delete(_ key: [UInt8], in tree: Tree) throws(LMDBError) -> Bool {
    try key._withBytes { (bytes) throws(LMDBError) in try delete(bytes, in: tree) }
  }

  @discardableResult
  package func delete(_ key: UInt64, in tree: Tree) throws(LMDBError) -> Bool {
    try withUnsafeBytes(of: key) { (bytes) throws(LMDBError) in
      try delete(ByteView(bytes), in: tree)
    }
  }

  /// Empties `tree` in time that does not depend on the number of its records.
  package func empty(_ tree: Tree) throws(LMDBError) {
    try reads.check(mdb_drop(reads.handle, tree.handle, 0), "empty \(tree.name)")
    environment.noteWrite()
  }
}

// MARK: Reads

extension WritingTransaction {
  /// The number that the commit will have.
  package var id: UInt64 { reads.id }

  @inline(__always)
  package func get(_ key: ByteView, in tree: Tree) throws(LMDBError) -> ByteView? {
    try reads.get(key, in: tree)
  }

  @inline(__always)
  package func get(_ key: UInt64, in tree: Tree) throws(LMDBError) -> ByteView? {
    try reads.get(key, in: tree)
  }

  package func get(_ key: [UInt8], in tree: Tree) throws(LMDBError) -> ByteView? {
    try reads.get(key, in: tree)
  }

  package func count(of tree: Tree) throws(LMDBError) -> Int { try reads.count(of: tree) }
}
