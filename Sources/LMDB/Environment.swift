import CLMDB
import LodestoreSystem
import Synchronization

/// An open LMDB file with its map and lock file.
///
/// Mutable state and its guards:
///
/// - `readers`: the pooled and the running read transactions, and whether the map is being moved.
///   The lock of `readers` guards this state and is held for a few instructions. While `isMoving`,
///   no read begins.
/// - `writeSide`: the thread that holds `writerLock`. `writerThread` is atomic, because other
///   threads compare themselves with it.
/// - `trees`: the handles of committed trees, guarded by its own lock. A thread that opens a
///   further tree holds `treeLock`. As LMDB requires, a writing thread holds the lock until its
///   transaction ends.
/// - `poison`, `closing`: atomics, set once.
/// - the map: it moves only with `writerLock` held, no write running and no read running.
///
/// Lock order: `writerLock`, `treeLock`, then the locks of `readers` and `trees`. A thread that
/// holds `treeLock` without `writerLock` must release it before it takes `writerLock`.
package final class Environment: @unchecked Sendable {
  struct Readers {
    var pool: [PinnedRead] = []
    var runningCount = 0
    var isMoving = false
    /// Whether the last read to end closes the environment.
    var closesWhenIdle = false
    var isClosed = false
  }

  package let path: String
  package let options: EnvironmentOptions
  /// Whether writers know the readers of this process; false on a read-only medium.
  package let hasLockFile: Bool
  let identity: StoreFile.Identity
  let lockIdentity: StoreFile.Identity?
  /// The tied data and lock file; `nil` without a lock file.
  let files: FilePair?
  /// LMDB's environment.
  ///
  /// If ``pageEngine`` is set, no LMDB function may be called with it.
  let handle: OpaquePointer
  /// The engine in LMDB's place; `nil` if LMDB reads the file.
  let pageEngine: PageEngine?
  let isInPages: Bool
  /// Whether the file is sealed, so that nobody writes it.
  package let isSealed: Bool
  /// The reason why everything goes through LMDB's functions; `nil` if pages are read directly.
  package let plainReason: EngineFence.Reason?
  /// Whether pages are read in the map, and short records changed in place, at the offsets of
  /// ``PageLayout``.
  let readsPages: Bool
  /// The layout of the file's pages.
  package let format: PageFormat
  /// Whether the map is opened without the system's read-ahead, so that reads request their pages
  /// themselves.
  let readsAheadItself: Bool
  /// The mask that turns an address into the address of its page; 0 if the system reads ahead.
  let readAheadMask: UInt
  private let forkCount: Int
  let readers = Guarded(Readers())
  let trees = Guarded<[String: Tree]>([:])
  let treeLock = ManualLock()
  let writerLock = TurnLock()
  /// The policy for waiting for other processes; guarded by its own lock.
  let turnPolicy = Guarded(TurnPolicy())
  let writerThread = Atomic<UInt>(0)
  let poison = Atomic<Bool>(false)
  let closing = Atomic<Bool>(false)
  /// The last known start of the map; see ``beginsMap(at:)``.
  let mapStart = Atomic<UInt>(0)
  /// Whether the pages were checked, or the file is in the state in which processes of this machine
  /// left it.
  let isTrusted = Atomic<Bool>(false)
  /// Whether the disk may have other meta pages than the system's cache; see ``renewMetaPages()``.
  let mustRenewMetaPages = Atomic<Bool>(false)
  /// Whether each commit from the next write on waits until its meta page is synced, even if
  /// ``options`` turn this off.
  let mustSyncMetaPages = Atomic<Bool>(false)
  /// The number of handles opened outside writes; see ``tree(_:isCreated:hasIntegerKeys:in:)``.
  let readOpenedTreeCount = Atomic<Int>(0)
  /// The number of ended writes.
  ///
  /// LMDB frees the cursors of a write at its end.
  let endedWriteCount = Atomic<Int>(0)
  /// The number of freed read transactions; see ``closeStray(_:)``.
  let freedReadCount = Atomic<Int>(0)
  /// The state of the running write and of the writers' turns.
  ///
  /// Only the thread that holds ``writerLock`` uses it. Each change of a tree sets
  /// ``WriteSide/hasWritten``, in loops whose instructions are counted, so exclusivity is not
  /// checked.
  @exclusivity(unchecked) var writeSide = WriteSide()
  /// The time when the writer's thread last paused for writers of other processes.
  ///
  /// Only that thread uses it, and it does not hold ``writerLock`` then.
  var lastYieldToProcesses = 0.0
  /// Closures called after the hooks of each commit; see ``addCommitListener(_:)``.
  let commitListeners = Guarded<[Int: @Sendable (UInt64) -> Void]>([:])
  let hasCommitListeners = Atomic<Bool>(false)
  /// The commit in progress, from before it is durable until its hooks have run; 0 for none.
  let committing = Atomic<UInt64>(0)
  /// The object of ``companion(_:)``.
  let sharedCompanion = Guarded<(any AnyObject & Sendable)?>(nil)
  /// The number of copies and writes that use the system's read-ahead.
  ///
  /// Its own lock is held while the map is advised.
  let bulkReadingCount = Guarded(0)
  private var closesAfterWrite = false
  private var whenClosed: () -> Void = {}
  /// Runs asynchronous writes in the order of their requests; see ``writeTogether(_:)``.
  package let writer: WorkerThreads
  /// Runs asynchronous reads.
  package let readerThreads: WorkerThreads
  /// Makes long jobs on ``readerThreads`` take turns.
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
    // The limit is one more than the possible number of simultaneous reads. If every thread waits
    // for a further read, one of these reads therefore fails, and the wait ends.
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

  /// Opens a file without a name, which nobody else has open, for reading through its descriptor.
  static func openUnshared(
    _ file: Int32, as path: String, options: EnvironmentOptions
  ) throws(LMDBError) -> Environment {
    try open(path, options, nil, nil, flags: UInt32(MDB_NOLOCK), name: "/dev/fd/\(file)")
  }

  /// Opens the file with LMDB.
  ///
  /// Only `files` ties it to its lock file.
  ///
  /// - Parameter name: The path that LMDB opens if it differs from `path`.
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
      // An environment whose open failed may only be closed.
      mdb_env_close(handle)
      // The meta pages of the data file passed their check, so LMDB refused the lock file.
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
      // LMDB follows links, and has opened another file than the examined one.
      mdb_env_close(handle)
      throw LMDBError(.unsuitablePath("being replaced right now"), operation: "open", path: path)
    }
    // A forked child or a program started from this one must not keep the data file open.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    let isLockless = flags & UInt32(MDB_NOLOCK) != 0
    var cleared: Int32 = 0
    mdb_reader_check(handle, &cleared)
    return Environment(
      handle: handle, path: path, options: options, identity: opened,
      lockIdentity: isLockless ? nil : lock, files: isLockless ? nil : files,
      isWithoutReadAhead: isWithoutReadAhead)
  }

  /// Creates a file with one commit, made by `initialise`, and names it when it is complete.
  ///
  /// If another process creates the file first, that file stays.
  static func create<E: Error>(
    _ path: String, options: EnvironmentOptions,
    initialise: (WritingTransaction) throws(E) -> Void
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
    // LMDB opens the new file without a lock file. Nobody else knows the file's name, and the disk
    // may be too full for a lock file.
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
      // LMDB writes nothing for an empty commit, not even the meta pages, so the file is synced
      // explicitly.
      let code = EngineDifferences.code(mdb_env_sync(environment.handle, 1))
      guard code == 0 else { throw environment.ioFailure(code, operation: "create") }
      // A file that this package could not open again is not named.
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
  /// The call waits for the running write. Running reads continue, and the end of the last one
  /// closes the environment.
  ///
  /// Within a write of the same thread it waits for nothing, because jobs on the threads may wait
  /// for that write. The environment then closes at the end of the write or of the last read,
  /// whichever is later.
  func shutDown(whenClosed: @escaping () -> Void = {}) {
    guard !closing.exchange(true, ordering: .sequentiallyConsistent) else { return }
    guard !isForked else {
      // Threads and locks stayed in the parent, so nothing here may be touched. The files may not
      // be closed either: the system would release this process's locks on the files if they are
      // open again.
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

  /// Releases `writerLock` at the end of a write.
  func leaveWriter() {
    // The hooks of a write without a commit are released here. A hook may hold the last reference
    // to the store. Its release then closes the store, and `closesAfterWrite` is set.
    writeSide.commitHooks.removeAll()
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

  /// Closes LMDB's environment.
  ///
  /// Call it only once, after `isClosed` was set with no read running.
  func closeHandle(_ pool: [PinnedRead]) {
    for pinned in pool { abortRead(pinned.handle) }
    // The page engine keeps its file open until the environment is released. So the lock of a
    // sealed file is released here.
    if let pageEngine { pageEngine.unlock() } else { mdb_env_close(handle) }
    stampClosed()
    files?.close()
    // The closure references the environment and would keep it in memory.
    let tell = whenClosed
    whenClosed = {}
    tell()
  }

  /// An error of an operation on this environment's file.
  func failure(_ kind: LMDBError.Kind, code: Int32 = 0, _ operation: String) -> LMDBError {
    LMDBError(kind, code: code, operation: operation, path: path)
  }

  /// An error that the engine or the system reports by its code.
  func failure(code: Int32, _ operation: String) -> LMDBError {
    LMDBError(code: code, operation: operation, path: path)
  }

  func checkUsable(_ operation: String) throws(LMDBError) {
    guard !closing.load(ordering: .relaxed) else { throw failure(.closed, operation) }
    try checkNotForked(operation)
  }

  package func checkNotForked(_ operation: String) throws(LMDBError) {
    guard !isForked else { throw failure(.usedAfterFork, operation) }
  }
}

// MARK: LMDB's version

extension Environment {
  package static var engineVersion: String { String(cString: mdb_version(nil, nil, nil)) }
}

extension EngineFence.Version {
  /// The version of the library in this process, which may differ from the header's.
  package static let running = {
    var version = Self(0, 0, 0)
    _ = mdb_version(&version.major, &version.minor, &version.patch)
    return version
  }()
}
