import CLMDB

extension Environment {
  /// Opens the tree `name`, and creates it if `isCreated`; `nil` if it does not exist.
  ///
  /// The handle is valid for this write at once and for other transactions after its commit.
  ///
  /// LMDB numbers handles by the trees that a transaction saw at its begin. If another thread opens
  /// a tree during a write, the write could assign the same number to another tree. The write is
  /// then run again from its beginning.
  package func tree(
    _ name: String, isCreated: Bool, hasIntegerKeys: Bool, in transaction: WritingTransaction
  ) throws(LMDBError) -> Tree? {
    try tree(
      name, isCreated: isCreated, hasIntegerKeys: hasIntegerKeys, within: transaction.reads)
  }

  /// Opens the tree `name` within a read or a write; `nil` if it does not exist.
  ///
  /// A handle that a read opens is valid for reads that begin after this call.
  package func tree(
    _ name: String, hasIntegerKeys: Bool, in transaction: Transaction
  ) throws(LMDBError) -> Tree? {
    try tree(name, isCreated: false, hasIntegerKeys: hasIntegerKeys, within: transaction)
  }

  private func tree(
    _ name: String, isCreated: Bool, hasIntegerKeys: Bool, within transaction: Transaction
  ) throws(LMDBError) -> Tree? {
    guard isActiveWrite(transaction.handle) else {
      return try openExistingTree(name, hasIntegerKeys: hasIntegerKeys)
    }
    if let opened = writeSide.openedTrees[name] { return try opened.checked(hasIntegerKeys) }
    if let known = trees.withLock({ $0[name] }) {
      var flags: UInt32 = 0
      guard mdb_dbi_flags(transaction.handle, known.handle, &flags) == 0 else {
        throw restart(opening: name)
      }
      return try known.checked(hasIntegerKeys)
    }
    if !writeSide.holdsTreeLock {
      treeLock.lock()
      writeSide.holdsTreeLock = true
      guard
        readOpenedTreeCount.load(ordering: .sequentiallyConsistent)
          == writeSide.readOpenedTreeCountAtBegin
      else { throw restart(opening: name) }
    }
    let flags: UInt32 = hasIntegerKeys ? UInt32(MDB_INTEGERKEY) : 0
    var opened: MDB_dbi = 0
    var code = mdb_dbi_open(transaction.handle, name, flags, &opened)
    if code == MDB_NOTFOUND {
      guard isCreated else { return nil }
      code = mdb_dbi_open(transaction.handle, name, flags | UInt32(MDB_CREATE), &opened)
      noteWrite()
    }
    if code == 0 { code = Self.checkKind(opened, hasIntegerKeys, transaction.handle) }
    try transaction.check(code, "open tree \(name)")
    let tree = Tree(name: name, handle: opened, hasIntegerKeys: hasIntegerKeys)
    writeSide.openedTrees[name] = tree
    return tree
  }

  private func restart(opening name: String) -> LMDBError {
    writeSide.mustRestart = true
    return failure(code: MDB_BAD_DBI, "open tree \(name)")
  }

  /// Throws if the tree is of another kind.
  ///
  /// Such a tree belongs to another program, because its keys compare differently or have several
  /// values.
  private static func checkKind(
    _ tree: MDB_dbi, _ hasIntegerKeys: Bool, _ transaction: OpaquePointer
  ) -> Int32 {
    var flags: UInt32 = 0
    let code = mdb_dbi_flags(transaction, tree, &flags)
    guard code == 0 else { return code }
    return flags == (hasIntegerKeys ? UInt32(MDB_INTEGERKEY) : 0) ? 0 : MDB_INCOMPATIBLE
  }

  /// Opens an existing tree before the transactions that will use it.
  ///
  /// A running transaction does not know handles that are opened later.
  ///
  /// The call waits while a write of this process that has opened trees runs. Within a write on
  /// this thread it opens the tree in that write.
  package func openExistingTree(_ name: String, hasIntegerKeys: Bool) throws(LMDBError) -> Tree? {
    try openExistingTrees([(name, hasIntegerKeys)])[0]
  }

  /// Opens several existing trees in one transaction.
  ///
  /// When a read begins, LMDB clears memory for the maximum number of trees, so a transaction for
  /// each tree would cost more.
  package func openExistingTrees(_ wanted: [TreeKind]) throws(LMDBError) -> [Tree?] {
    if isWriterThread, let activeWrite = writeSide.activeWrite {
      let transaction = Transaction(handle: activeWrite, environment: self)
      return try wanted.map { kind throws(LMDBError) in
        try tree(kind.name, hasIntegerKeys: kind.hasIntegerKeys, in: transaction)
      }
    }
    if let first = wanted.first(where: { kind in trees.withLock { $0[kind.name] == nil } }) {
      let operation = "open tree \(first.name)"
      try checkUsable(operation)
      var attempts = 0
      // Release `treeLock` first, because of the lock order.
      while let error = try openForReaders(wanted) {
        attempts += 1
        try recover(from: error.code, attempts: attempts, operation: operation)
      }
    }
    let known = trees.withLock { $0 }
    return try wanted.map { kind throws(LMDBError) in
      try known[kind.name]?.checked(kind.hasIntegerKeys)
    }
  }

  /// Opens handles in a separate read transaction.
  ///
  /// A handle opened in a read survives only if that read is committed, and no two transactions may
  /// open handles at the same time.
  ///
  /// - Returns: The error that prevented the transaction from beginning.
  private func openForReaders(_ wanted: [TreeKind]) throws(LMDBError) -> LMDBError? {
    treeLock.lock()
    defer { treeLock.unlock() }
    _ = try enterReaders(takesPooled: false)
    defer { leaveReaders(nil) }
    let known = trees.withLock { $0 }
    let unknown = wanted.filter { known[$0.name] == nil }
    if let pageEngine {
      for kind in unknown { try open(kind.name, pageEngine) }
      return nil
    }
    // Begin after taking the lock, so that the transaction knows all existing handles.
    var transaction: OpaquePointer?
    var code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
    guard code == 0, let transaction else { return failure(code: code, "open trees") }
    var opened: [String: Tree] = [:]
    for kind in unknown {
      var tree: MDB_dbi = 0
      code = mdb_dbi_open(transaction, kind.name, 0, &tree)
      if code == MDB_NOTFOUND { continue }
      if code == 0 { code = Self.checkKind(tree, kind.hasIntegerKeys, transaction) }
      guard code == 0 else {
        mdb_txn_abort(transaction)
        throw failure(code: code, "open tree \(kind.name)")
      }
      opened[kind.name] = Tree(name: kind.name, handle: tree, hasIntegerKeys: kind.hasIntegerKeys)
    }
    mdb_txn_commit(transaction)
    readOpenedTreeCount.add(opened.count, ordering: .sequentiallyConsistent)
    trees.withLock { $0.merge(opened) { _, new in new } }
    return nil
  }

  /// Assigns the next handle to a tree of an environment read without LMDB.
  private func open(_ name: String, _ engine: PageEngine) throws(LMDBError) {
    let operation = "open tree \(name)"
    let newest = try engine.newest()
    let found: PageTree?
    do throws(PageError) {
      found = try newest.tree(name)
    } catch {
      throw LMDBError(error, operation: operation, path: path)
    }
    guard let flags = found?.record.flags else { return }
    guard flags & ~TreeRecordLayout.integerKeys == 0 else {
      throw failure(code: MDB_INCOMPATIBLE, operation)
    }
    trees.withLock { trees in
      if trees[name] != nil { return }
      trees[name] = Tree(
        name: name, handle: EngineTree.names + 1 + UInt32(trees.count), hasIntegerKeys: flags != 0)
    }
  }

  /// Publishes the handles of a committed write.
  ///
  /// Handles of an aborted write become invalid.
  func endTrees(isCommitted: Bool) {
    if isCommitted, !writeSide.openedTrees.isEmpty {
      trees.withLock { $0.merge(writeSide.openedTrees) { _, new in new } }
    }
    writeSide.openedTrees = [:]
    if writeSide.holdsTreeLock {
      writeSide.holdsTreeLock = false
      treeLock.unlock()
    }
  }
}
