internal import CLMDB

extension Environment {
  /// The tree of that name, or `nil` if there is none in the newest commit.
  ///
  /// Trees that were there when the file was opened, and those made here since, are found without
  /// any waiting. For one that another process has made meanwhile this waits for the writer of
  /// this process, because the engine allows one transaction at a time to open handles. Read
  /// transactions that are open already cannot use such a tree.
  package func tree(named name: String) throws(LMDBError) -> Tree? {
    if let tree = treesByName.withLock({ $0[name] }) { return tree }
    try checkNotForked("open a tree")
    try writerPlace.take("open a tree")
    defer { writerPlace.giveUp() }
    try gate.enterWithoutTransaction("open a tree")
    defer { leaveGate() }
    // Begun only now: a transaction from before another handle was committed would give this one
    // the same slot.
    let transaction = try beginReadForHandles()
    let tree: Tree?
    do {
      tree = try openHandle(name, create: false, integerKeys: nil, in: transaction)
    } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    // A handle lives on only if its transaction is committed, and a reset would drop it.
    let code = mdb_txn_commit(transaction)
    guard code == MDB_SUCCESS else { throw failure(code, "open a tree") }
    if let tree { treesByName.withLock { $0[name] = tree } }
    return tree
  }

  /// Opens every tree of the file at once, so that hardly any is opened while transactions run.
  ///
  /// Call before the environment is known to anybody else.
  func openAllTrees() throws(LMDBError) {
    let transaction = try beginReadForHandles()
    var opened: [String: Tree] = [:]
    do {
      for name in try treeNames(in: transaction) {
        do {
          opened[name] = try openHandle(name, create: false, integerKeys: nil, in: transaction)
        } catch {
          // A plain value among the names, or duplicates in a foreign file: whoever asks for it
          // by name is told. With all slots used the rest is left for those who ask.
          if error.isTreeCountExceeded { break }
          if error.code != MDB_INCOMPATIBLE { throw error }
        }
      }
    } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    let code = mdb_txn_commit(transaction)
    guard code == MDB_SUCCESS else { throw failure(code, "open a tree") }
    treesByName.withLock { $0 = opened }
  }

  /// Opens a handle inside `transaction`. Call with the writer's place, or before there are others.
  func openHandle(
    _ name: String, create: Bool, integerKeys: Bool?, in transaction: OpaquePointer
  ) throws(LMDBError) -> Tree? {
    guard (1...Limits.keySizeInBytes).contains(name.utf8.count), !name.utf8.contains(0) else {
      throw LMDBError(.treeName, operation: "open a tree")
    }
    var wanted: UInt32 = 0
    if create { wanted |= UInt32(MDB_CREATE) }
    if integerKeys == true { wanted |= UInt32(MDB_INTEGERKEY) }
    var handle: UInt32 = 0
    var code = mdb_dbi_open(transaction, name, wanted, &handle)
    if code == MDB_NOTFOUND { return nil }
    guard code == MDB_SUCCESS else { throw failure(code, "open a tree") }
    var flags: UInt32 = 0
    code = mdb_dbi_flags(transaction, handle, &flags)
    guard code == MDB_SUCCESS else { throw failure(code, "open a tree") }
    // Several values under a key are nothing this layer reads or keeps right.
    guard flags & UInt32(MDB_DUPSORT) == 0 else {
      throw LMDBError(engine: MDB_INCOMPATIBLE, operation: "open a tree")
    }
    let usesIntegerKeys = flags & UInt32(MDB_INTEGERKEY) != 0
    if let integerKeys, integerKeys != usesIntegerKeys {
      throw LMDBError(.treeKind(treeUsesIntegerKeys: usesIntegerKeys), operation: "open a tree")
    }
    return Tree(
      handle: handle, environmentNumber: number, usesIntegerKeys: usesIntegerKeys)
  }

  /// The handle on the engine's unnamed tree, whose keys are the names of the others.
  static let namesHandle: UInt32 = 1

  /// The names in a transaction of the engine, in byte order.
  ///
  /// A name's value is the 48 bytes of a tree's root record. A plain value of that size in a
  /// foreign file looks the same.
  func treeNames(in transaction: OpaquePointer) throws(LMDBError) -> [String] {
    var opened: OpaquePointer?
    var code = mdb_cursor_open(transaction, Self.namesHandle, &opened)
    guard code == MDB_SUCCESS, let cursor = opened else { throw failure(code, "list the trees") }
    defer { mdb_cursor_close(cursor) }
    var names: [String] = []
    var key = MDB_val()
    var value = MDB_val()
    code = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
    while code == MDB_SUCCESS {
      if value.mv_size == 48, let name = String(validating: UnsafeRawBufferPointer(key), as: UTF8.self),
        !name.utf8.contains(0)
      {
        names.append(name)
      }
      code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
    }
    guard code == MDB_NOTFOUND else { throw failure(code, "list the trees") }
    return names
  }

  private func beginReadForHandles() throws(LMDBError) -> OpaquePointer {
    var transaction: OpaquePointer?
    var code = mdb_txn_begin(raw, nil, UInt32(MDB_RDONLY), &transaction)
    if code == MDB_READERS_FULL {
      mdb_reader_check(raw, nil)
      code = mdb_txn_begin(raw, nil, UInt32(MDB_RDONLY), &transaction)
    }
    guard code == MDB_SUCCESS, let transaction else { throw failure(code, "open a tree") }
    return transaction
  }
}

extension ReadTransaction {
  /// The tree of that name, or `nil` if this transaction sees none.
  ///
  /// - Throws: `treeOpenedAfterTransaction` for a tree that another process made before this
  ///   transaction began and nobody in this process had opened yet. A new transaction can use it.
  package borrowing func tree(named name: String) throws(LMDBError) -> Tree? {
    if let session {
      if let tree = session.openedTrees[name] { return tree }
      if let tree = environment.treesByName.withLock({ $0[name] }) { return tree }
      let tree = try environment.openHandle(name, create: false, integerKeys: nil, in: raw)
      if let tree { session.openedTrees[name] = tree }
      return tree
    }
    guard let tree = try environment.tree(named: name) else { return nil }
    var flags: UInt32 = 0
    if mdb_dbi_flags(raw, tree.handle, &flags) == MDB_SUCCESS { return tree }
    if try !treeNames().contains(name) { return nil }
    throw LMDBError(.treeOpenedAfterTransaction, operation: "open a tree")
  }

  /// The names of all trees, in byte order.
  package borrowing func treeNames() throws(LMDBError) -> [String] {
    try environment.treeNames(in: raw)
  }

  /// The number of entries of `tree`. O(1).
  package borrowing func entryCount(of tree: Tree) throws(LMDBError) -> Int {
    try statistics(of: tree).entryCount
  }

  /// The shape of `tree`. O(1): the engine keeps it in the tree's root record.
  package borrowing func statistics(of tree: Tree) throws(LMDBError) -> TreeStatistics {
    try tree.checkEnvironment(environmentNumber, "read a tree's statistics")
    return try statistics(ofHandle: tree.handle)
  }

  borrowing func statistics(ofHandle handle: UInt32) throws(LMDBError) -> TreeStatistics {
    var result = MDB_stat()
    let code = mdb_stat(raw, handle, &result)
    guard code == MDB_SUCCESS else { throw failure(code, "read a tree's statistics") }
    return TreeStatistics(
      entryCount: result.ms_entries, depth: Int(result.ms_depth),
      branchPageCount: result.ms_branch_pages, leafPageCount: result.ms_leaf_pages,
      overflowPageCount: result.ms_overflow_pages)
  }
}

extension WriteTransaction {
  /// The tree of that name; where there is none, a new one with `create` and `nil` without.
  ///
  /// - Parameter integerKeys: The kind of keys; `nil` takes a tree as it is and makes one of bytes.
  /// - Throws: `treeKind` if the tree has keys of the other kind, MDB_DBS_FULL with
  ///   `maximumTreeCount` trees open, MDB_INCOMPATIBLE if the name holds something else.
  package borrowing func tree(
    named name: String, create: Bool = false, integerKeys: Bool? = nil
  ) throws(LMDBError) -> Tree? {
    let environment = reading.environment
    let known = session.openedTrees[name] ?? environment.treesByName.withLock { $0[name] }
    if let known {
      if let integerKeys, integerKeys != known.usesIntegerKeys {
        throw LMDBError(
          .treeKind(treeUsesIntegerKeys: known.usesIntegerKeys), operation: "open a tree")
      }
      return known
    }
    let tree = try environment.openHandle(
      name, create: create, integerKeys: integerKeys, in: reading.raw)
    if let tree { session.openedTrees[name] = tree }
    return tree
  }

  /// Removes all entries of `tree`. Far cheaper than deleting them one by one.
  package borrowing func empty(_ tree: Tree) throws(LMDBError) {
    try tree.checkEnvironment(reading.environmentNumber, "empty a tree")
    let code = mdb_drop(reading.raw, tree.handle, 0)
    guard code == MDB_SUCCESS else { throw reading.failure(code, "empty a tree") }
  }

  /// Removes a tree with all its entries. Returns whether there was one.
  ///
  /// Its handle is void from here on, also if the transaction is aborted: `Tree` values got before
  /// must not be used again, and read transactions that are open lose access to the tree. Where
  /// that matters use ``empty(_:)``.
  package borrowing func removeTree(named name: String) throws(LMDBError) -> Bool {
    guard let tree = try tree(named: name) else { return false }
    let code = mdb_drop(reading.raw, tree.handle, 1)
    // The engine closes the handle whatever becomes of the transaction.
    session.openedTrees[name] = nil
    _ = reading.environment.treesByName.withLock { $0.removeValue(forKey: name) }
    guard code == MDB_SUCCESS else { throw reading.failure(code, "remove a tree") }
    return true
  }

  /// The names of all trees, in byte order.
  package borrowing func treeNames() throws(LMDBError) -> [String] {
    try reading.treeNames()
  }
}
