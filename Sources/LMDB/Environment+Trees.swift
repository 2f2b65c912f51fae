import CLMDB

extension Environment {
  /// The tree `name`, made when `isCreated`; `nil` when it is not there.
  ///
  /// Within a write, the handle is good for this write at once and for others after its commit.
  /// Within a read, it is good for the reads that begin after this call.
  ///
  /// LMDB numbers handles by the trees that a transaction saw at its begin, so that a write would
  /// give the number of a handle opened meanwhile a second time. Such a write begins again.
  package func tree(
    _ name: String, isCreated: Bool, hasIntegerKeys: Bool, in transaction: Transaction
  ) throws(LMDBError) -> Tree? {
    guard isActiveWrite(transaction.handle) else {
      return try openExistingTree(name, hasIntegerKeys: hasIntegerKeys)
    }
    if let opened = openedTrees[name] { return try opened.checked(hasIntegerKeys) }
    if let known = trees.withLock({ $0[name] }) {
      var flags: UInt32 = 0
      guard mdb_dbi_flags(transaction.handle, known.handle, &flags) == 0 else {
        throw restart(opening: name)
      }
      return try known.checked(hasIntegerKeys)
    }
    if !holdsTreeLock {
      treeLock.lock()
      holdsTreeLock = true
      guard
        readOpenedTreeCount.load(ordering: .sequentiallyConsistent) == readOpenedTreeCountAtBegin
      else { throw restart(opening: name) }
    }
    let flags: UInt32 = hasIntegerKeys ? UInt32(MDB_INTEGERKEY) : 0
    var opened: MDB_dbi = 0
    var code = mdb_dbi_open(transaction.handle, name, flags, &opened)
    if code == MDB_NOTFOUND {
      guard isCreated else { return nil }
      code = mdb_dbi_open(transaction.handle, name, flags | UInt32(MDB_CREATE), &opened)
      hasWritten = true
    }
    if code == 0 { code = Self.checkKind(opened, hasIntegerKeys, transaction.handle) }
    try transaction.check(code, "open tree \(name)")
    let tree = Tree(name: name, handle: opened, hasIntegerKeys: hasIntegerKeys)
    openedTrees[name] = tree
    return tree
  }

  private func restart(opening name: String) -> LMDBError {
    mustRestart = true
    return LMDBError(code: MDB_BAD_DBI, operation: "open tree \(name)", path: path)
  }

  /// A tree of another kind belongs to another program: its keys compare differently, or have
  /// several values.
  private static func checkKind(
    _ tree: MDB_dbi, _ hasIntegerKeys: Bool, _ transaction: OpaquePointer
  ) -> Int32 {
    var flags: UInt32 = 0
    let code = mdb_dbi_flags(transaction, tree, &flags)
    guard code == 0 else { return code }
    return flags == (hasIntegerKeys ? UInt32(MDB_INTEGERKEY) : 0) ? 0 : MDB_INCOMPATIBLE
  }

  /// Opens an existing tree before the transactions that will use it: a handle made later is not
  /// known to a transaction that has begun.
  ///
  /// Waits while a write of this process that has opened trees runs. Inside a write on this thread
  /// it is the same as asking the write.
  package func openExistingTree(
    _ name: String, hasIntegerKeys: Bool
  ) throws(LMDBError) -> Tree? {
    if isWriterThread, let activeWrite {
      return try tree(
        name, isCreated: false, hasIntegerKeys: hasIntegerKeys,
        in: Transaction(handle: activeWrite, environment: self))
    }
    if let known = trees.withLock({ $0[name] }) { return try known.checked(hasIntegerKeys) }
    try checkUsable("open tree \(name)")
    var attempts = 0
    while true {
      attempts += 1
      switch try openForReaders(name, hasIntegerKeys) {
      case .success(let tree): return try tree?.checked(hasIntegerKeys)
      // With `treeLock` given back: see the lock order.
      case .failure(let error):
        try recover(from: error.code, attempts: attempts, operation: "open tree \(name)")
      }
    }
  }

  /// A handle made in a read survives only when that read is committed, and no two transactions may
  /// open handles at once, so it is made in one of its own.
  ///
  /// Fails with the error that keeps the transaction from beginning.
  private func openForReaders(
    _ name: String, _ hasIntegerKeys: Bool
  ) throws(LMDBError) -> Result<Tree?, LMDBError> {
    treeLock.lock()
    defer { treeLock.unlock() }
    if let known = trees.withLock({ $0[name] }) { return .success(known) }
    _ = try enterReaders(takesPooled: false)
    defer { leaveReaders(nil) }
    if let pageEngine { return .success(try open(name, pageEngine)) }
    // Begun after the lock was taken, so that it knows all handles there are.
    var transaction: OpaquePointer?
    var code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
    guard code == 0, let transaction else {
      return .failure(LMDBError(code: code, operation: "open tree \(name)", path: path))
    }
    var opened: MDB_dbi = 0
    code = mdb_dbi_open(transaction, name, 0, &opened)
    if code == 0 { code = Self.checkKind(opened, hasIntegerKeys, transaction) }
    guard code == 0 else {
      mdb_txn_abort(transaction)
      if code == MDB_NOTFOUND { return .success(nil) }
      throw LMDBError(code: code, operation: "open tree \(name)", path: path)
    }
    mdb_txn_commit(transaction)
    readOpenedTreeCount.add(1, ordering: .sequentiallyConsistent)
    let tree = Tree(name: name, handle: opened, hasIntegerKeys: hasIntegerKeys)
    trees.withLock { $0[name] = tree }
    return .success(tree)
  }

  /// Gives a tree of the pages the next handle.
  private func open(_ name: String, _ engine: PageEngine) throws(LMDBError) -> Tree? {
    let operation = "open tree \(name)"
    let newest = try engine.newest()
    let found: PageTree?
    do throws(PageError) {
      found = try newest.tree(name)
    } catch {
      throw LMDBError(error, operation: operation, path: path)
    }
    guard let flags = found?.record.flags else { return nil }
    guard flags & ~TreeRecordLayout.integerKeys == 0 else {
      throw LMDBError(code: MDB_INCOMPATIBLE, operation: operation, path: path)
    }
    return trees.withLock { trees in
      let tree = Tree(
        name: name, handle: EngineTree.names + 1 + UInt32(trees.count), hasIntegerKeys: flags != 0)
      trees[name] = tree
      return tree
    }
  }

  /// Makes the handles of a committed write known; those of an aborted one are not valid any more.
  func endTrees(isCommitted: Bool) {
    if isCommitted, !openedTrees.isEmpty {
      trees.withLock { $0.merge(openedTrees) { _, new in new } }
    }
    openedTrees = [:]
    if holdsTreeLock {
      holdsTreeLock = false
      treeLock.unlock()
    }
  }
}
