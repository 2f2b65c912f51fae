import CLMDB
import LodestoreSystem
import Synchronization

/// An opened LMDB file with its map and lock file.
///
/// Mutable state, and its guards:
/// - `readers`: the pooled and the running read transactions, and whether the map is being moved.
///   Its own lock, held for a few instructions. While `isMoving`, no read begins.
/// - the write side (`firstFailure`, `openedTrees`, `activeWrite`, ...): the thread that holds
///   `writerLock`. `writerThread` is atomic because others compare themselves with it.
/// - `trees`: the handles of committed trees. Its own lock; opening one more is serialised by
///   `treeLock`, which a writing thread keeps until its transaction ends, as LMDB asks.
/// - `poison`, `closing`: atomics, set once.
/// - the map itself moves only with `writerLock` held, no write running, and no read running.
///
/// Lock order: `writerLock`, `treeLock`, then the two of these. Whoever holds `treeLock` without
/// `writerLock` gives it back before asking for that one.
package final class Environment: @unchecked Sendable {
  struct Readers {
    var pool: [PinnedRead] = []
    var runningCount = 0
    var isMoving = false
    /// The last read to end closes the environment.
    var closesWhenIdle = false
    var isClosed = false
  }

  package let path: String
  package let options: EnvironmentOptions
  /// Whether readers of this process are known to writers; false on a read-only medium.
  package let hasLockFile: Bool
  let identity: StoreFile.Identity
  let lockIdentity: StoreFile.Identity?
  /// Nil without a lock file.
  let files: FilePair?
  /// LMDB's environment; where there is a ``pageEngine``, no function of LMDB is passed it.
  let handle: OpaquePointer
  /// The engine in LMDB's place; `nil` where LMDB reads the file.
  let pageEngine: PageEngine?
  let isInPages: Bool
  /// Whether the file is a sealed one, which nobody writes.
  package let isSealed: Bool
  /// Why LMDB's functions are called for everything; `nil` where pages are read.
  package let plainReason: EngineFence.Reason?
  /// Whether pages are read in the map, and short records changed in place, as ``PageLayout`` says.
  let readsPages: Bool
  /// The layout of the file's pages.
  package let format: PageFormat
  /// Whether the map is opened without the system's read-ahead, and pages are asked for as reads
  /// need them.
  let readsAheadItself: Bool
  /// The bits of an address that are those of its page; 0 where the system reads ahead.
  let readAheadMask: UInt
  private let forkCount: Int
  let readers = Guarded(Readers())
  let trees = Guarded<[String: Tree]>([:])
  let treeLock = HeldLock()
  let writerLock = TurnLock()
  /// How long writes wait for other processes; its own lock.
  let turnPolicy = Guarded(TurnPolicy())
  let writerThread = Atomic<UInt>(0)
  let poison = Atomic<Bool>(false)
  let closing = Atomic<Bool>(false)
  /// Where the map was last found to begin; see ``beginsMap(at:)``.
  let mapStart = Atomic<UInt>(0)
  /// Whether the pages have been checked, or the file is as processes of this machine left it.
  let isTrusted = Atomic<Bool>(false)
  /// Whether the disk may have other meta pages than the system; see ``renewMetaPages()``.
  let mustRenewMetaPages = Atomic<Bool>(false)
  /// Whether commits are to wait for the sync of their meta page from the next write on, although
  /// ``options`` say otherwise.
  let mustSyncMetaPages = Atomic<Bool>(false)
  /// How many handles were opened outside writes; see ``tree(_:isCreated:hasIntegerKeys:in:)``.
  let readOpenedTreeCount = Atomic<Int>(0)
  /// Counts ended writes: LMDB frees the cursors of a write with it.
  let endedWriteCount = Atomic<Int>(0)
  /// Counts freed transactions of reads; see ``closeStray(_:)``.
  let freedReadCount = Atomic<Int>(0)
  var readOpenedTreeCountAtBegin = 0
  var activeWrite: OpaquePointer?
  var firstFailure: LMDBError?
  var mustRestart = false
  /// Whether the running write has changed a page; of one that has not, LMDB makes no commit.
  @exclusivity(unchecked) var hasWritten = false
  var openedTrees: [String: Tree] = [:]
  var holdsTreeLock = false
  var lastReaderCheck = 0
  /// When the writer's thread last let other processes go first; only of that thread.
  var lastGivenWay = 0.0
  /// The calls that the members of the running write want after its commit.
  var commitHooks: [(member: Int, body: (_ write: UInt64, _ commit: UInt64) -> Void)] = []
  /// The asynchronous write that runs; read and set by who has the writer's lock.
  var asker: (any GroupMember)?
  /// The member of the group that runs; 0 where there is no group.
  var runningMember = 0
  /// How many writes have been committed here.
  var writeCount: UInt64 = 0
  /// See ``Transaction/commitPreparation(_:)``; of the running write.
  var commitPreparation: (any CommitPreparation)?
  /// Called after the hooks of each commit; see ``addCommitListener(_:)``.
  let commitListeners = Guarded<[Int: @Sendable (UInt64) -> Void]>([:])
  let hasCommitListeners = Atomic<Bool>(false)
  /// The commit that is being made, from before the disk has it until its hooks have run; 0 for
  /// none.
  let committing = Atomic<UInt64>(0)
  /// See ``companion(_:)``.
  let sharedCompanion = Guarded<(any AnyObject & Sendable)?>(nil)
  /// Whether the running write reads much, see ``beginBulkWrite()``.
  var isBulkWrite = false
  /// How many copies and writes have the system read ahead; its own lock, held while the map is
  /// advised.
  let bulkReadingCount = Guarded(0)
  private var closesAfterWrite = false
  private var whenClosed: () -> Void = {}
  /// Runs asynchronous writes in the order of their asking; see ``writeTogether(_:)``.
  package let writer: WorkerThreads
  /// Runs asynchronous reads.
  package let readerThreads: WorkerThreads
  /// Lets the long ones among the jobs of ``readerThreads`` take turns.
  package let longReads: LongJobs

  init(
    handle: OpaquePointer, _ pageEngine: PageEngine? = nil, path: String,
    options: EnvironmentOptions,
    identity: StoreFile.Identity, lockIdentity: StoreFile.Identity?, files: FilePair?,
    isWithoutReadAhead: Bool
  ) {
    let pageSize: Int
    if let pageEngine {
      pageSize = pageEngine.pageSize
      plainReason = EngineFence(options, in: pageEngine).reason
    } else {
      var stat = MDB_stat()
      mdb_env_stat(handle, &stat)
      pageSize = Int(stat.ms_psize)
      plainReason = EngineFence(options, pageSize: pageSize).reason
    }
    format = pageEngine?.format ?? .ofEngine
    readsPages = plainReason == nil
    readsAheadItself = readsPages && isWithoutReadAhead
    readAheadMask = readsAheadItself ? ~(UInt(pageSize) - 1) : 0
    self.handle = handle
    self.pageEngine = pageEngine
    isInPages = pageEngine != nil
    isSealed = pageEngine?.isSealed ?? false
    self.path = path
    writer = WorkerThreads(threadCount: 1, operation: "write", path: path)
    longReads = LongJobs(limit: max(2, SystemProcessors.count))
    // One more than there can be reads at once: where all wait for others, one gets an error.
    readerThreads = WorkerThreads(
      threadCount: 4, extraLimit: Int(options.readerSlotCount), longJobs: longReads,
      operation: "read", path: path)
    self.options = options
    self.identity = identity
    self.lockIdentity = lockIdentity
    self.files = files
    hasLockFile = lockIdentity != nil
    forkCount = ForkCounter.current
  }

  // MARK: Opening

  /// Opens the file without the registry; see ``EnvironmentRegistry``.
  static func openUnregistered(
    _ path: String, options: EnvironmentOptions, identity: StoreFile.Identity,
    onCheck: (Int, Int) -> Bool
  ) throws(LMDBError) -> Environment {
    if options.access == .readOnly, StoreFile.isOnReadOnlyMedium(path) {
      return try openInPages(path, options, identity, onCheck)
    }
    do {
      try StoreFile.prewriteLockFile(for: path, options: options)
      let files = try FilePair.open(path, options.access)
      let stamp = files?.currentStamp(.closed)
      let isAsLeft = files?.isAsLeft(stamp) ?? false
      let isTrusted = try checkPages(path, options, isAsLeft: isAsLeft, files, onCheck)
      let environment = try open(path, options, identity, files, flags: 0)
      environment.mustRenewMetaPages.store(
        !isAsLeft || options.durability == .mayLoseLastCommit, ordering: .relaxed)
      try environment.checkNumbers()
      environment.isTrusted.store(isTrusted, ordering: .relaxed)
      if isTrusted { files?.stampInUse(stamp) }
      return environment
    } catch {
      guard [EACCES, EROFS, EPERM].contains(error.code), mayReadUnlocked(path, options) else {
        throw error
      }
      return try openInPages(path, options, identity, onCheck)
    }
  }

  /// Opens a file without a name that nobody else has, for reading, by its descriptor.
  static func openUnshared(
    _ file: Int32, as path: String, options: EnvironmentOptions
  ) throws(LMDBError) -> Environment {
    try open(path, options, nil, nil, flags: UInt32(MDB_NOLOCK), name: "/dev/fd/\(file)")
  }

  /// Opens the file as LMDB does; tied to its lock file only by `files`.
  ///
  /// - Parameter name: the path that LMDB opens, where it is not `path`.
  static func open(
    _ path: String, _ options: EnvironmentOptions, _ identity: StoreFile.Identity?,
    _ files: FilePair?, flags: UInt32, name: String? = nil
  ) throws(LMDBError) -> Environment {
    let options = FileSizeLimit.applied(to: options)
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
    let isWithoutReadAhead = canReadAhead(name ?? path, options)
    if isWithoutReadAhead { flags |= UInt32(MDB_NORDAHEAD) }
    code = TemporaryFile.withoutOthers {
      EngineDifferences.code(mdb_env_open(handle, name ?? path, flags, mode_t(options.mode)))
    }
    guard code == 0 else {
      // An environment whose open failed must not be used, only closed.
      mdb_env_close(handle)
      // The meta pages of the data file have passed their check, so LMDB refuses the other file.
      if files != nil, code == MDB_INVALID || code == MDB_VERSION_MISMATCH {
        throw LMDBError(.mismatched(.unusableLockFile), code: code, operation: "open", path: path)
      }
      if let files, code == EINVAL, files.isLockFileCut {
        throw LMDBError(.mismatched(.lockFileCut), code: code, operation: "open", path: path)
      }
      throw LMDBError(code: code, operation: "open", path: path)
    }
    var descriptor: Int32 = -1
    mdb_env_get_fd(handle, &descriptor)
    let opened = StoreFile.identity(of: descriptor)
    let lock = StoreFile.identity(at: path + "-lock")
    guard let opened, identity == nil || identity == opened,
      files == nil || (files?.data == opened && files?.lock == lock)
    else {
      // LMDB follows links, and has opened another file than the one that was examined.
      mdb_env_close(handle)
      throw LMDBError(.unsuitablePath("being replaced right now"), operation: "open", path: path)
    }
    // A forked child and a program started from this one must not keep the data file open.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    let isLockless = flags & UInt32(MDB_NOLOCK) != 0
    var cleared: Int32 = 0
    mdb_reader_check(handle, &cleared)
    return Environment(
      handle: handle, path: path, options: options, identity: opened,
      lockIdentity: isLockless ? nil : lock, files: isLockless ? nil : files,
      isWithoutReadAhead: isWithoutReadAhead)
  }

  /// Makes a new file with one commit, that of `initialise`, and gives it its name when it is
  /// complete.
  ///
  /// When another process was faster, its file stays.
  static func create<E: Error>(
    _ path: String, options: EnvironmentOptions,
    initialise: (Transaction) throws(E) -> Void
  ) throws {
    try FileSizeLimit.check(
      UInt64(LockFileLayout.size(readerCount: Int(options.readerSlotCount))), "create", path)
    let temporary: TemporaryFile
    do throws(LMDBError) {
      temporary = try TemporaryFile(for: path, mode: options.mode)
    } catch {
      throw LMDBError(error.kind, code: error.code, operation: "open", path: path)
    }
    var creation = options
    creation.access = .readWrite(create: true)
    creation.durability = .full
    creation.trust = .always
    // Nobody else knows the name, and a lock file would need room on a disk that may be full.
    let environment: Environment
    do throws(LMDBError) {
      environment = try open(temporary.path, creation, nil, nil, flags: UInt32(MDB_NOLOCK))
    } catch {
      throw LMDBError(
        StoreFile.fullDisk(error.code, temporary.descriptor) ?? error.kind, code: error.code,
        operation: error.operation, path: path)
    }
    do {
      try environment.write(initialise)
      // An empty commit writes nothing, not even the meta pages.
      let code = EngineDifferences.code(mdb_env_sync(environment.handle, 1))
      guard code == 0 else { throw environment.ioFailure(code, operation: "create") }
      // A file that this package could not open again gets no name.
      try MetaPages(file: environment.dataDescriptor, path: path).check()
    } catch {
      environment.shutDown()
      throw error
    }
    environment.shutDown()
    let code = temporary.move(to: path)
    guard code == 0 || code == EEXIST else {
      throw LMDBError(code: code, operation: "create", path: path)
    }
    try StoreFile.syncDirectory(of: path)
  }

  // MARK: Closing

  var isForked: Bool { ForkCounter.current != forkCount }

  var isWriterThread: Bool { writerThread.load(ordering: .relaxed) == currentThread() }

  /// Ends threads, transactions and the environment, then calls `whenClosed`.
  ///
  /// Waits for the running write. Reads that still run go on, and the end of the last one closes
  /// the environment. Called inside a write of the same thread, it waits for nothing, since what
  /// runs on the threads may wait for that write; the end of the write closes the environment, or
  /// that of the last read if it is later.
  func shutDown(whenClosed: @escaping () -> Void = {}) {
    guard !closing.exchange(true, ordering: .sequentiallyConsistent) else { return }
    guard !isForked else {
      // Threads and locks stayed in the parent; nothing here may be touched. The files may not
      // be closed either: the system would drop this process's locks of the same files, opened
      // again.
      _ = Unmanaged.passRetained(self)
      return whenClosed()
    }
    let isInWrite = isWriterThread
    writer.stop(waits: !isInWrite)
    readerThreads.stop(waits: !isInWrite)
    if isInWrite {
      self.whenClosed = whenClosed
      closesAfterWrite = true
      return
    }
    writerLock.lock()
    self.whenClosed = whenClosed
    writerLock.unlock()
    finishClosing()
  }

  /// Ends the hold of a write on `writerLock`.
  func leaveWriter() {
    // The calls of a write without a commit: one may hold the last reference to the store, which
    // closes the environment then, as within a write.
    commitHooks.removeAll()
    let closes = closesAfterWrite
    closesAfterWrite = false
    writerThread.store(0, ordering: .relaxed)
    writerLock.unlock()
    if closes, !isForked { finishClosing() }
  }

  private func finishClosing() {
    writerLock.lock()
    let pool: [PinnedRead]? = readers.withLock { readers in
      guard readers.runningCount == 0 else {
        readers.closesWhenIdle = true
        return nil
      }
      readers.isClosed = true
      defer { readers.pool = [] }
      return readers.pool
    }
    writerLock.unlock()
    if let pool { closeHandle(pool) }
  }

  /// Only once, after `isClosed` was set with no read running.
  func closeHandle(_ pool: [PinnedRead]) {
    for pinned in pool { abortRead(pinned.handle) }
    // The descriptor stays open as long as somebody refers to the environment.
    if let pageEngine { pageEngine.unlock() } else { mdb_env_close(handle) }
    stampClosed()
    files?.close()
    // The closure refers to the environment, which would stay in memory with it.
    let tell = whenClosed
    whenClosed = {}
    tell()
  }

  func checkUsable(_ operation: String) throws(LMDBError) {
    guard !closing.load(ordering: .relaxed) else {
      throw LMDBError(.closed, operation: operation, path: path)
    }
    try checkNotForked(operation)
  }

  package func checkNotForked(_ operation: String) throws(LMDBError) {
    guard !isForked else {
      throw LMDBError(.usedAfterFork, operation: operation, path: path)
    }
  }
}

// MARK: LMDB's version

extension Environment {
  package static var engineVersion: String { String(cString: mdb_version(nil, nil, nil)) }
}

extension EngineFence.Version {
  /// The version of the library in this process, which may be another than that of the header.
  package static let running = {
    var version = Self(0, 0, 0)
    _ = mdb_version(&version.major, &version.minor, &version.patch)
    return version
  }()
}
