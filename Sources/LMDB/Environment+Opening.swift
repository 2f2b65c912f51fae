internal import CLMDB

extension Environment {
  /// Opens a data file; with `create`, makes it where there is none.
  ///
  /// The same file opened again in this process, also under another name, gives the same object.
  /// Each opening is ended by its own ``close()``.
  ///
  /// A new file is made under a temporary name, gets its first commit from `initialize`, is made
  /// durable and only then takes its place. If another process is faster, its file is opened, and
  /// `initialize` has run for nothing.
  ///
  /// - Parameter initialize: Fills a new file in its first commit. Not called for one that exists.
  /// - Throws: ``LMDBError``, with the reason for a path, file or file system that cannot be used;
  ///   nothing was changed then. What `initialize` throws.
  package static func open(
    path: String, options: EnvironmentOptions = EnvironmentOptions(),
    initialize: ((borrowing WriteTransaction) throws -> Void)? = nil
  ) throws -> Environment {
    ForkDetection.install()
    if path.isEmpty { throw LMDBError(.unsuitablePath(.empty), operation: "open", path: path) }
    if path.utf8.contains(0) {
      throw LMDBError(.unsuitablePath(.nulByte), operation: "open", path: path)
    }
    // A few rounds, because the file may be made, replaced or removed by others between two looks
    // at it.
    for _ in 0..<16 {
      let status: FileStatus
      do {
        status = try SystemCalls.status(ofLinkAt: path)
      } catch {
        guard error.code == EngineCode.missing, options.access == .readWrite(create: true) else {
          throw LMDBError(engine: error.code, operation: "open", path: path)
        }
        try createFile(at: path, options: options, initialize: initialize)
        continue
      }
      guard status.kind == .regular else {
        throw LMDBError(.unsuitablePath(status.kind.pathProblem), operation: "open", path: path)
      }
      if let environment = try openExisting(path, status, options) { return environment }
    }
    throw LMDBError(.fileKeepsChanging, operation: "open", path: path)
  }

  /// Opens an environment that lives in memory and ends with its last ``close()``.
  ///
  /// Its file is on a memory file system and has no name any more; everything else is the same.
  /// Commits are not synchronized: nothing of it can survive the process.
  package static func openInMemory(
    options: EnvironmentOptions = EnvironmentOptions(),
    initialize: ((borrowing WriteTransaction) throws -> Void)? = nil
  ) throws -> Environment {
    ForkDetection.install()
    var options = options
    options.access = .readWrite(create: true)
    options.allowsAnyFileSystem = true
    let path = TemporaryName.make(for: memoryDirectory() + "/lodestore")
    defer {
      SystemCalls.remove(path)
      SystemCalls.remove(LockFile.path(for: path))
    }
    let environment = try EnvironmentRegistry.withLock { entries in
      let status = try makeEmptyFile(at: path, options: options)
      let environment = try openEngine(
        path: path, status: status, options: options, extraFlags: MDB_NOSYNC)
      entries[environment.identity] = EnvironmentRegistry.Entry(
        environment: environment, openCount: 1, lockFile: nil)
      return environment
    }
    do {
      if let initialize { try environment.write(initialize) }
    } catch {
      environment.close()
      throw error
    }
    return environment
  }

  private static func memoryDirectory() -> String {
    if SystemCalls.obstacleToWriting("/dev/shm") == nil { return "/dev/shm" }
    return SystemCalls.environmentVariable("TMPDIR") ?? "/tmp"
  }

  /// Opens a file that is there. `nil` if it is no longer the one that `status` describes.
  private static func openExisting(
    _ path: String, _ status: FileStatus, _ options: EnvironmentOptions
  ) throws -> Environment? {
    try EnvironmentRegistry.withLock { entries in
      if let entry = entries[status.identity] {
        let environment = entry.environment
        if environment.forkGeneration != ForkDetection.generation {
          throw LMDBError(.usedAfterFork, operation: "open", path: path)
        }
        if entry.openCount > 0 || environment.gate.reopen() {
          if environment.isReadOnly && options.access != .readOnly {
            throw LMDBError(.openForReadingOnly, operation: "open", path: path)
          }
          entries[status.identity]?.openCount += 1
          return environment
        }
        // Its last transaction has ended on another thread, which is on its way here.
        environment.freeEngine()
        entries[status.identity] = nil
      }
      let lockStatus = try? SystemCalls.status(ofLinkAt: LockFile.path(for: path))
      if let lock = lockStatus?.identity, entries.values.contains(where: { $0.lockFile == lock }) {
        throw LMDBError(.lockFileInUse, operation: "open", path: path)
      }
      guard let environment = try inspectAndOpen(path, status, options) else { return nil }
      entries[environment.identity] = EnvironmentRegistry.Entry(
        environment: environment, openCount: 1,
        lockFile: try? SystemCalls.status(ofLinkAt: LockFile.path(for: path)).identity)
      return environment
    }
  }

  private static func inspectAndOpen(
    _ path: String, _ status: FileStatus, _ options: EnvironmentOptions
  ) throws(LMDBError) -> Environment? {
    try checkFileSystem(of: path, options)
    do {
      let descriptor = try SystemCalls.openForReading(path)
      defer { SystemCalls.closeDescriptor(descriptor) }
      guard try SystemCalls.status(of: descriptor).identity == status.identity else { return nil }
      if let failure = inspectionFailure(descriptor, path) { throw failure }
    } catch let error as LMDBError {
      throw error
    } catch let error as SystemCalls.Failure {
      if error.code == EngineCode.missing { return nil }
      throw LMDBError(engine: error.code, operation: "open", path: path)
    } catch {
      return nil
    }
    let environment = try openEngine(path: path, status: status, options: options)
    var descriptor: Int32 = -1
    mdb_env_get_fd(environment.raw, &descriptor)
    // The engine opened by name. If that led to another file by now, nothing is known about it.
    guard let opened = try? SystemCalls.status(of: descriptor), opened.identity == status.identity
    else {
      environment.freeEngine()
      return nil
    }
    do {
      try environment.clearDeadReaders()
      try environment.openAllTrees()
    } catch {
      environment.freeEngine()
      throw error
    }
    return environment
  }

  private static func inspectionFailure(_ descriptor: Int32, _ path: String) -> LMDBError? {
    do {
      try FileInspection.check(descriptor, path: path)
      return nil
    } catch {
      return error
    }
  }

  static func checkFileSystem(
    of path: String, _ options: EnvironmentOptions
  ) throws(LMDBError) {
    if options.allowsAnyFileSystem { return }
    do {
      let kind = try FileSystemKind(of: path)
      guard kind.isLocal else {
        throw LMDBError(.unsupportedFileSystem(name: kind.name), operation: "open", path: path)
      }
    } catch let error as LMDBError {
      throw error
    } catch let error as SystemCalls.Failure {
      throw LMDBError(engine: error.code, operation: "open", path: path)
    } catch {
      throw LMDBError(engine: EngineCode.inputOutput, operation: "open", path: path)
    }
  }

  /// Opens the engine on a file that was looked at. The result is not registered.
  ///
  /// - Parameter extraFlags: MDB_NOSYNC for files that need not survive a power cut as they are.
  static func openEngine(
    path: String, status: FileStatus, options: EnvironmentOptions, extraFlags: Int32 = 0
  ) throws(LMDBError) -> Environment {
    var flags = MDB_NOSUBDIR | MDB_NOTLS | extraFlags
    if options.access == .readOnly { flags |= MDB_RDONLY }
    if options.durability == .mayLoseLastCommit { flags |= MDB_NOMETASYNC }
    let lock = try LockFile.prepare(
      for: path, like: status, readerSlotCount: options.readerSlotCount)
    if case .unavailable(let code, let exists) = lock {
      // A lock file that is there may be in use by a writer; reading beside it without locks
      // crashes. Only on a read-only medium nobody uses it.
      let isUnused = !exists || code == EngineCode.readOnlyFileSystem
      guard options.access == .readOnly, options.allowsUnlockedReading, isUnused else {
        throw LMDBError(.lockFileUnavailable, code: code, operation: "open", path: path)
      }
      flags |= MDB_NOLOCK
    }
    var mapSize = roundedMapSize(options.mapSizeInBytes)
    while true {
      var created: OpaquePointer?
      var code = mdb_env_create(&created)
      guard code == MDB_SUCCESS, let raw = created else {
        throw LMDBError(engine: code, operation: "open", path: path)
      }
      mdb_env_set_mapsize(raw, mapSize)
      mdb_env_set_maxdbs(raw, UInt32(clamping: options.maximumTreeCount))
      mdb_env_set_maxreaders(raw, UInt32(clamping: options.readerSlotCount))
      code = mdb_env_open(raw, path, UInt32(flags), mode_t(options.permissions))
      if code == MDB_SUCCESS {
        return Environment(
          raw: raw, path: path, options: options, identity: status.identity,
          usesLockFile: flags & MDB_NOLOCK == 0)
      }
      mdb_env_close(raw)
      // Under a limit on address space a smaller reservation still does; the map grows later.
      guard code == EngineCode.noMemory, mapSize > 64 << 20 else {
        throw LMDBError(engine: code, operation: "open", path: path)
      }
      mapSize = roundedMapSize(mapSize / 4)
    }
  }

  /// A whole number of pages of any page size.
  private static func roundedMapSize(_ byteCount: Int) -> Int {
    max(1 << 20, (byteCount + 65_535) & ~65_535)
  }
}
