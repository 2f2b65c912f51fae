import CLMDB
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// An opened LMDB file with its map and lock file.
///
/// What is mutable, and what guards it:
/// - `readers`: the pooled and the running read transactions, and whether the map is being moved,
///   written through, or gone. Its own `Mutex`, held for a few instructions. While `isMoving`, no
///   read begins. Who ends the last transaction of an environment that `closing` says closed
///   closes it.
/// - the write side (`writerThread`, `firstFailure`, `openedTrees`, `lastReaderCheck`): the thread that
///   holds `writerLock`. `writerThread` is atomic because others compare themselves with it.
/// - `trees`: the handles of all trees opened so far. Its own `Mutex`. One more is opened only with
///   `writerLock` held: LMDB gives two transactions that open trees at once the same handle.
/// - `isPoisoned`, `isClosed`: atomics, set once.
/// - the map itself moves only with the writer's lock held and no transaction running.
package final class Environment: @unchecked Sendable {
  private struct Readers {
    var pool: [PinnedRead] = []
    /// Everything that uses the map and is not a write: reads, copies, questions.
    var runningCount = 0
    var isMoving = false
    var isWriting = false
    var isHandleClosed = false
  }

  package let path: String
  package let options: EnvironmentOptions
  /// Whether readers of this process are known to writers; false on a read-only medium.
  package let hasLockFile: Bool
  /// The place in the registry; a file that is being made has none yet.
  let identity: StoreFile.Identity?
  private let handle: OpaquePointer
  private let forkCount: Int
  private let readers = Mutex(Readers())
  private let trees = Mutex<[String: Tree]>([:])
  private let writerLock = HeldLock()
  private let writerThread = Atomic<UInt>(0)
  private let poison = Atomic<Bool>(false)
  private let closing = Atomic<Bool>(false)
  private var firstFailure: LMDBError?
  private var openedTrees: [String] = []
  private var lastReaderCheck = 0
  /// Runs asynchronous writes, one after the other.
  package let writer = WorkerThreads(threadCount: 1)
  /// Runs asynchronous reads.
  package let readerThreads = WorkerThreads(threadCount: 4)

  private init(
    handle: OpaquePointer, path: String, options: EnvironmentOptions, hasLockFile: Bool,
    identity: StoreFile.Identity?
  ) {
    self.handle = handle
    self.path = path
    self.options = options
    self.hasLockFile = hasLockFile
    self.identity = identity
    forkCount = ForkCounter.current
  }

  // MARK: Opening

  /// Opens the file without the registry; see ``EnvironmentRegistry``.
  static func openUnregistered(
    _ path: String, options: EnvironmentOptions, identity: StoreFile.Identity
  ) throws(LMDBError) -> Environment {
    StoreFile.prewriteLockFile(for: path, options: options)
    do {
      return try open(path, options, identity, flags: 0)
    } catch {
      // Beside a lock file there may be a writer, and readers without one abort beside a writer.
      guard options.access == .readOnly, options.allowsUnlockedReading,
        error.code == EACCES || error.code == EROFS || error.code == EPERM,
        access(path + "-lock", F_OK) != 0
      else { throw error }
      return try open(path, options, identity, flags: UInt32(MDB_NOLOCK))
    }
  }

  private static func open(
    _ path: String, _ options: EnvironmentOptions, _ identity: StoreFile.Identity?, flags: UInt32
  ) throws(LMDBError) -> Environment {
    var created: OpaquePointer?
    var code = mdb_env_create(&created)
    guard code == 0, let handle = created else {
      throw LMDBError(code: code, operation: "open", path: path)
    }
    mdb_env_set_mapsize(handle, options.mapSizeInBytes)
    mdb_env_set_maxdbs(handle, options.treeCount)
    mdb_env_set_maxreaders(handle, options.readerSlotCount)
    var flags = flags | UInt32(MDB_NOSUBDIR | MDB_NOTLS)
    if options.access == .readOnly { flags |= UInt32(MDB_RDONLY) }
    if options.durability == .mayLoseLastCommit { flags |= UInt32(MDB_NOMETASYNC) }
    code = mdb_env_open(handle, path, flags, mode_t(options.mode))
    guard code == 0 else {
      // An environment whose open failed must not be used, only closed.
      mdb_env_close(handle)
      throw LMDBError(code: code, operation: "open", path: path)
    }
    var cleared: Int32 = 0
    mdb_reader_check(handle, &cleared)
    return Environment(
      handle: handle, path: path, options: options,
      hasLockFile: flags & UInt32(MDB_NOLOCK) == 0 && access(path + "-lock", W_OK) == 0,
      identity: identity)
  }

  /// Makes a new file that holds one commit, `initialise`, and puts it in place whole; when
  /// another process was faster, its file stays.
  static func create<E: Error>(
    _ path: String, options: EnvironmentOptions,
    initialise: (Transaction) throws(E) -> Void
  ) throws {
    let temporary = StoreFile.temporaryName(for: path)
    defer {
      unlink(temporary)
      unlink(temporary + "-lock")
    }
    var creation = options
    creation.access = .readWrite(create: true)
    creation.durability = .full
    let environment = try open(temporary, creation, nil, flags: 0)
    do {
      try environment.write(initialise)
    } catch {
      environment.shutDown()
      throw error
    }
    environment.shutDown()
    guard link(temporary, path) == 0 || errno == EEXIST else {
      throw LMDBError(code: errno, operation: "create", path: path)
    }
    try StoreFile.syncDirectory(of: path)
  }

  /// Ends the threads, and closes the file with the last transaction that still runs.
  func shutDown() {
    guard !closing.exchange(true, ordering: .sequentiallyConsistent) else { return }
    writer.stop()
    readerThreads.stop()
    closeIfIdle()
  }

  /// Whether the environment takes no more transactions.
  var isClosing: Bool { closing.load(ordering: .sequentiallyConsistent) }

  private func closeIfIdle() {
    guard isClosing else { return }
    let pool: [PinnedRead]? = readers.withLock { readers in
      guard readers.runningCount == 0, !readers.isWriting, !readers.isHandleClosed else {
        return nil
      }
      readers.isHandleClosed = true
      let pool = readers.pool
      readers.pool = []
      return pool
    }
    guard let pool else { return }
    // A forked child must not touch what it inherited; it only forgets it.
    if ForkCounter.current == forkCount {
      for transaction in pool { mdb_txn_abort(transaction.handle) }
      mdb_env_close(handle)
    }
    if let identity { EnvironmentRegistry.remove(self, identity) }
  }

  private func checkUsable(_ operation: String) throws(LMDBError) {
    guard !closing.load(ordering: .relaxed) else {
      throw LMDBError(.closed, operation: operation, path: path)
    }
    guard ForkCounter.current == forkCount else {
      throw LMDBError(.usedAfterFork, operation: operation, path: path)
    }
  }

  // MARK: Reading

  /// Runs `body` on the newest commit. Any thread; readers neither wait nor make wait.
  ///
  /// Costs a fraction of a microsecond: the transaction object and its reader slot are reused.
  @inline(__always)
  package func read<R, E: Error>(
    _ body: (Transaction) throws(E) -> R
  ) throws -> R {
    let transaction = try beginRead()
    defer { endRead(transaction) }
    return try body(Transaction(handle: transaction.handle, environment: self))
  }

  /// A read transaction that outlives a call: must be given to ``endRead(_:)``.
  package struct PinnedRead: @unchecked Sendable {
    // An LMDB read transaction without thread affinity (MDB_NOTLS); whoever holds this owns it.
    fileprivate let handle: OpaquePointer
  }

  package func transaction(of pinned: PinnedRead) -> Transaction {
    Transaction(handle: pinned.handle, environment: self)
  }

  package func beginRead() throws(LMDBError) -> PinnedRead {
    try checkUsable("read")
    var attempts = 0
    while true {
      attempts += 1
      let pooled = try enterReaders()
      var handle = pooled
      let code = renewOrBegin(&handle)
      if code == 0, let handle { return PinnedRead(handle: handle) }
      if let pooled { mdb_txn_abort(pooled) }
      leaveReaders(nil)
      switch code {
      case MDB_READERS_FULL where attempts < 2: checkReaders()
      case MDB_MAP_RESIZED where attempts < 8: try adoptMapSize()
      default: throw LMDBError(code: code, operation: "read", path: path)
      }
    }
  }

  private func renewOrBegin(_ handle: inout OpaquePointer?) -> Int32 {
    if let handle { return mdb_txn_renew(handle) }
    return mdb_txn_begin(self.handle, nil, UInt32(MDB_RDONLY), &handle)
  }

  package func endRead(_ pinned: PinnedRead) {
    mdb_txn_reset(pinned.handle)
    leaveReaders(pinned)
  }

  /// Takes a place among the running reads, and a pooled transaction if there is one.
  private func enterReaders() throws(LMDBError) -> OpaquePointer? {
    while true {
      let entered: (Bool, PinnedRead?) = readers.withLock { readers in
        if readers.isMoving || readers.isHandleClosed { return (false, nil) }
        readers.runningCount += 1
        return (true, readers.pool.popLast())
      }
      if entered.0 { return entered.1?.handle }
      // Rare and short: the map is being moved.
      usleep(200)
      try checkUsable("read")
    }
  }

  private func leaveReaders(_ pinned: PinnedRead?) {
    let surplus: PinnedRead? = readers.withLock { readers in
      if let pinned, readers.pool.count >= 64 { return pinned }
      readers.runningCount -= 1
      if let pinned { readers.pool.append(pinned) }
      return nil
    }
    if let surplus {
      mdb_txn_abort(surplus.handle)
      readers.withLock { $0.runningCount -= 1 }
    }
    closeIfIdle()
  }

  /// Counts as a reader while `body` uses the map or the environment's handle.
  private func usingMap<R>(_ body: () throws(LMDBError) -> R) throws(LMDBError) -> R {
    // A writing thread has the map for itself, and would wait for itself here.
    guard writerThread.load(ordering: .relaxed) != currentThread() else { return try body() }
    let pooled = try enterReaders()
    defer { leaveReaders(pooled.map(PinnedRead.init(handle:))) }
    return try body()
  }

  /// Waits until no read of this process runs, and lets none begin while it returns true and until
  /// `isMoving` is taken back.
  private func waitForReaders(seconds: Double) -> Bool {
    var waited = 0.0
    while true {
      let isIdle = readers.withLock { readers in
        readers.isMoving = true
        return readers.runningCount == 0
      }
      if isIdle { return true }
      if waited >= seconds {
        readers.withLock { $0.isMoving = false }
        return false
      }
      usleep(500)
      waited += 0.0005
    }
  }

  // MARK: Writing

  /// Runs `body` in a write transaction and commits it; what it throws aborts everything.
  ///
  /// On the calling thread, which waits for other writers of this and other processes. A write inside a
  /// write throws ``LMDBError/Kind/nestedWrite``. `body` runs again, on a clean transaction, when the map had to
  /// grow in its midst, so it must have no other effects.
  package func write<R, E: Error>(_ body: (Transaction) throws(E) -> R) throws -> R {
    try checkUsable("write")
    let thread = currentThread()
    guard writerThread.load(ordering: .relaxed) != thread else {
      throw LMDBError(.nestedWrite, operation: "write", path: path)
    }
    try beginWriting(thread)
    defer { endWriting() }
    while true {
      guard !poison.load(ordering: .relaxed) else {
        throw LMDBError(.poisoned, operation: "write", path: path)
      }
      growIfSmall()
      let transaction = try beginWrite()
      firstFailure = nil
      let result: R
      do {
        result = try body(Transaction(handle: transaction, environment: self))
        if let firstFailure { throw firstFailure }
      } catch {
        mdb_txn_abort(transaction)
        endTrees(isCommitted: false)
        if firstFailure?.isMapFull == true {
          try grow()
          continue
        }
        throw error
      }
      let code = mdb_txn_commit(transaction)
      endTrees(isCommitted: code == 0)
      if code == MDB_MAP_FULL {
        try grow()
        continue
      }
      guard code == 0 else { throw commitFailure(code) }
      checkReadersPeriodically()
      return result
    }
  }

  private func beginWriting(_ thread: UInt) throws(LMDBError) {
    writerLock.lock()
    let isOpen = readers.withLock { readers in
      if !readers.isHandleClosed { readers.isWriting = true }
      return !readers.isHandleClosed
    }
    guard isOpen else {
      writerLock.unlock()
      throw LMDBError(.closed, operation: "write", path: path)
    }
    writerThread.store(thread, ordering: .relaxed)
  }

  private func endWriting() {
    writerThread.store(0, ordering: .relaxed)
    readers.withLock { $0.isWriting = false }
    writerLock.unlock()
    closeIfIdle()
  }

  private func beginWrite() throws(LMDBError) -> OpaquePointer {
    var attempts = 0
    while true {
      attempts += 1
      var transaction: OpaquePointer?
      let code = mdb_txn_begin(handle, nil, 0, &transaction)
      if code == 0, let transaction { return transaction }
      switch code {
      case MDB_MAP_RESIZED where attempts < 8: try adoptMapSizeWhileWriting()
      case MDB_PANIC:
        poison.store(true, ordering: .relaxed)
        throw LMDBError(.poisoned, code: code, operation: "write", path: path)
      default: throw LMDBError(code: code, operation: "write", path: path)
      }
    }
  }

  /// A failed write or sync.
  ///
  /// What reached the disk is unknown after a failed sync, so nothing is written on top of it; a
  /// disk that is merely full leaves the last commit as it was. LMDB answers EIO to a short write,
  /// so a full disk is known by the room that is left.
  private func commitFailure(_ code: Int32) -> LMDBError {
    if code == ENOSPC || code == EDQUOT || code == EIO,
      let free = StoreFile.free(at: StoreFile.directory(of: path)),
      code != EIO || free < 16 << 20
    {
      return LMDBError(.diskFull(freeBytes: free), code: code, operation: "commit", path: path)
    }
    // After a failed call LMDB refuses the transaction without having written anything.
    if code != MDB_BAD_TXN { poison.store(true, ordering: .relaxed) }
    return LMDBError(code: code, operation: "commit", path: path)
  }

  /// Remembers the first failure of the running write: after it LMDB's transaction is of no use.
  func noteFailure(_ error: LMDBError) {
    guard writerThread.load(ordering: .relaxed) == currentThread(), firstFailure == nil else {
      return
    }
    firstFailure = error
  }

  // MARK: The map

  private var mapSize: Int { currentInfo.mapSizeInBytes }

  /// Grows between transactions, so that few ever meet a full map. There is room yet: when it
  /// cannot grow now, it will another time.
  private func growIfSmall() {
    let info = currentInfo
    if info.usedBytes > info.mapSizeInBytes / 2,
      info.mapSizeInBytes < options.mapGrowthLimitInBytes,
      readers.withLock({ $0.runningCount == 0 })
    {
      try? grow()
    }
  }

  private func grow() throws(LMDBError) {
    let old = mapSize
    let new = min(old * 4, options.mapGrowthLimitInBytes)
    guard new > old else {
      throw LMDBError(
        .cannotGrow("it has reached its limit of \(old) bytes"), code: MDB_MAP_FULL,
        operation: "write", path: path)
    }
    try setMapSize(new)
  }

  /// Moves the map; only with the writer's lock held and no write running.
  private func setMapSize(_ size: Int) throws(LMDBError) {
    guard waitForReaders(seconds: options.growthWaitInSeconds) else {
      throw LMDBError(
        .cannotGrow("a snapshot of this process stayed open for \(options.growthWaitInSeconds) s"),
        code: MDB_MAP_FULL, operation: "write", path: path)
    }
    defer { readers.withLock { $0.isMoving = false } }
    let code = mdb_env_set_mapsize(handle, size)
    guard code == 0 else {
      // The old map is gone and there is no new one.
      poison.store(true, ordering: .relaxed)
      throw LMDBError(code: code, operation: "grow", path: path)
    }
  }

  private func adoptMapSizeWhileWriting() throws(LMDBError) { try setMapSize(0) }

  /// Another process has grown the file: takes over its map size.
  private func adoptMapSize() throws(LMDBError) {
    if writerThread.load(ordering: .relaxed) == currentThread() {
      // Inside a write the map cannot move; the write itself has adopted the size already.
      throw LMDBError(code: MDB_MAP_RESIZED, operation: "read", path: path)
    }
    try beginWriting(currentThread())
    defer { endWriting() }
    try setMapSize(0)
  }

  // MARK: Trees

  /// The tree `name`, made when `isCreated`; `nil` when it is not there. Within a write.
  package func tree(
    _ name: String, isCreated: Bool, hasIntegerKeys: Bool, in transaction: Transaction
  ) throws(LMDBError) -> Tree? {
    if let known = trees.withLock({ $0[name] }) { return known }
    guard writerThread.load(ordering: .relaxed) == currentThread() else {
      return try openExistingTree(name, hasIntegerKeys: hasIntegerKeys)
    }
    var flags: UInt32 = hasIntegerKeys ? UInt32(MDB_INTEGERKEY) : 0
    if isCreated { flags |= UInt32(MDB_CREATE) }
    var opened: MDB_dbi = 0
    let code = mdb_dbi_open(transaction.handle, name, flags, &opened)
    if code == MDB_NOTFOUND { return nil }
    try transaction.check(code, "open tree \(name)")
    let tree = Tree(name: name, handle: opened)
    trees.withLock { $0[name] = tree }
    openedTrees.append(name)
    return tree
  }

  /// Opens a tree for readers.
  ///
  /// A handle made in a read survives only when that read is committed, so it is made in one of
  /// its own, with no write running.
  private func existingTree(_ name: String, hasIntegerKeys: Bool) throws(LMDBError) -> Tree? {
    try beginWriting(currentThread())
    defer { endWriting() }
    if let known = trees.withLock({ $0[name] }) { return known }
    var transaction: OpaquePointer?
    var code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
    guard code == 0, let transaction else {
      throw LMDBError(code: code, operation: "open tree \(name)", path: path)
    }
    var opened: MDB_dbi = 0
    code = mdb_dbi_open(transaction, name, hasIntegerKeys ? UInt32(MDB_INTEGERKEY) : 0, &opened)
    guard code == 0 else {
      mdb_txn_abort(transaction)
      if code == MDB_NOTFOUND { return nil }
      throw LMDBError(code: code, operation: "open tree \(name)", path: path)
    }
    mdb_txn_commit(transaction)
    let tree = Tree(name: name, handle: opened)
    trees.withLock { $0[name] = tree }
    return tree
  }

  /// Opens an existing tree before the transactions that will use it: a handle made later is not
  /// known to a transaction that has begun.
  package func openExistingTree(
    _ name: String, hasIntegerKeys: Bool
  ) throws(LMDBError) -> Tree? {
    if let known = trees.withLock({ $0[name] }) { return known }
    try checkUsable("open tree \(name)")
    guard writerThread.load(ordering: .relaxed) != currentThread() else {
      throw LMDBError(.nestedWrite, operation: "open tree \(name)", path: path)
    }
    return try existingTree(name, hasIntegerKeys: hasIntegerKeys)
  }

  /// A handle that was made in an aborted write is not valid any more.
  private func endTrees(isCommitted: Bool) {
    if !isCommitted {
      let names = openedTrees
      trees.withLock { trees in for name in names { trees[name] = nil } }
    }
    openedTrees = []
  }

  // MARK: Readers and facts

  /// Clears the slots of readers that died; returns how many.
  @discardableResult
  package func checkReaders() -> Int {
    let cleared = try? usingMap { () throws(LMDBError) in
      var cleared: Int32 = 0
      mdb_reader_check(handle, &cleared)
      return Int(cleared)
    }
    return cleared ?? 0
  }

  /// Every few seconds of committing: a dead reader holds back pages and grows the file.
  private func checkReadersPeriodically() {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    if now.tv_sec - lastReaderCheck >= 5 {
      lastReaderCheck = now.tv_sec
      checkReaders()
    }
  }

  /// Facts about the file and its readers.
  package struct Info: Sendable {
    package var mapSizeInBytes: Int
    package var usedBytes: Int
    package var pageSize: Int
    package var lastTransaction: UInt64
    package var readerSlotCount: Int
    package var usedReaderSlotCount: Int
  }

  package var info: Info {
    get throws(LMDBError) {
      try checkUsable("info")
      return try usingMap { () throws(LMDBError) in currentInfo }
    }
  }

  /// The same for who has the map already.
  private var currentInfo: Info {
    var info = MDB_envinfo()
    var stat = MDB_stat()
    mdb_env_info(handle, &info)
    mdb_env_stat(handle, &stat)
    return Info(
      mapSizeInBytes: info.me_mapsize, usedBytes: (info.me_last_pgno + 1) * Int(stat.ms_psize),
      pageSize: Int(stat.ms_psize), lastTransaction: UInt64(info.me_last_txnid),
      readerSlotCount: Int(info.me_maxreaders), usedReaderSlotCount: Int(info.me_numreaders))
  }

  package static var engineVersion: String { String(cString: mdb_version(nil, nil, nil)) }

  /// Copies the newest commit into a new file at `destination`, synced.
  ///
  /// Compacting leaves out free pages. A file that is there is not touched; a new one gets its name when
  /// it is complete. Not inside a write, which the copy would wait for.
  package func copy(to destination: String, compacting: Bool) throws(LMDBError) {
    try checkUsable("copy")
    guard writerThread.load(ordering: .relaxed) != currentThread() else {
      throw LMDBError(.nestedWrite, operation: "copy", path: path)
    }
    guard access(destination, F_OK) != 0 else {
      throw LMDBError(code: EEXIST, operation: "copy to", path: destination)
    }
    let temporary = StoreFile.temporaryName(for: destination)
    let file = StoreFile.createForWriting(temporary, mode: options.mode)
    guard file >= 0 else { throw LMDBError(code: errno, operation: "copy to", path: destination) }
    defer { unlink(temporary) }
    var code = try usingMap { () throws(LMDBError) in
      mdb_env_copyfd2(handle, file, compacting ? UInt32(MDB_CP_COMPACT) : 0)
    }
    if code == 0, fsync(file) != 0 { code = errno }
    close(file)
    if code == 0, link(temporary, destination) != 0 { code = errno }
    guard code == 0 else {
      throw LMDBError(code: code, operation: "copy to", path: destination)
    }
    try StoreFile.syncDirectory(of: destination)
  }
}
