import LodestoreSystem

/// The open environments of this process, by device and inode.
///
/// LMDB must not open a file twice in one process. Closing one of the two environments would
/// release the process's locks. Another process would then reuse pages that snapshots of the other
/// environment still read. Paths cannot identify a file, because of hard links. An environment
/// stays registered until LMDB has closed it.
package enum EnvironmentRegistry {
  private struct Entry {
    var environment: Environment
    var useCount: Int
  }

  private enum Attempt {
    case opened(Environment)
    case mustCreate
    case isClosing
    /// Another thread is opening the file.
    case isOpening
    /// The path now leads to another file in this engine's format, so the attempt is repeated.
    case converted
  }

  private static let entries = Guarded<[StoreFile.Identity: Entry]>([:])
  /// The files being opened.
  ///
  /// Other threads that want one of them wait.
  ///
  /// This is a set and not a lock, because the check of a large file's pages takes long and calls
  /// the program.
  private static let openings = Guarded<Set<StoreFile.Identity>>([])
  /// Serializes the examination of a file with its entry into ``openings``.
  private static let gate = ManualLock()

  /// Opens `path`, or returns the environment that this process already has open for the file.
  ///
  /// Call ``close(_:)`` once for each call.
  ///
  /// A read may still run on the environment that this process closed last for the file. The call
  /// waits for that read up to the growth wait, then throws.
  ///
  /// - Parameters:
  ///   - onCheck: Receives the progress of the check of the pages. While another thread opens the
  ///     file, it is called at intervals with 0 of 0. If it returns false, the call ends with
  ///     ``LMDBError/Kind/cancelled``.
  ///   - initialise: Makes the first commit of a new file.
  package static func open<E: Error>(
    _ path: String, options: EnvironmentOptions,
    onCheck: (_ done: Int, _ total: Int) -> Bool = { _, _ in true },
    initialise: (WritingTransaction) throws(E) -> Void
  ) throws -> Environment {
    let deadline = monotonicSeconds() + options.growthWaitInSeconds
    var creationCount = 0
    while true {
      switch try attempt(path, options, onCheck) {
      case .opened(let environment): return environment
      case .mustCreate:
        guard options.access == .readWrite(create: true), creationCount < 5 else {
          throw LMDBError(code: ENOENT, operation: "open", path: path)
        }
        creationCount += 1
        try Environment.create(path, options: options, initialise: initialise)
      case .isClosing:
        guard monotonicSeconds() < deadline else {
          throw LMDBError(
            .unsuitablePath("still open under a snapshot of a store that was closed"),
            operation: "open", path: path)
        }
        usleep(1_000)
      case .converted: continue
      case .isOpening:
        guard onCheck(0, 0) else { throw LMDBError(.cancelled, operation: "open", path: path) }
        usleep(1_000)
      }
    }
  }

  private static func attempt(
    _ path: String, _ options: EnvironmentOptions, _ onCheck: (Int, Int) -> Bool
  ) throws(LMDBError) -> Attempt {
    let identity: StoreFile.Identity
    switch try begin(path, options) {
    case .opening(let found): identity = found
    case .ended(let attempt): return attempt
    }
    defer { openings.withLock { _ = $0.remove(identity) } }
    let facts = try StoreFile.checkMetaPages(path)
    let format = facts.format
    let environment: Environment
    if facts.isSealed {
      guard let sealed = try Environment.openSealed(path, options, identity, onCheck) else {
        return .converted
      }
      environment = sealed
    } else if format == .ofEngine, !options.readsInPages || options.access != .readOnly {
      environment = try .openUnregistered(
        path, options: options, identity: identity, onCheck: onCheck)
    } else if options.access == .readOnly {
      environment = try .openInPages(path, options, identity, onCheck)
    } else {
      try EngineConversion.run(path, format, options, onCheck)
      return .converted
    }
    entries.withLock { $0[identity] = Entry(environment: environment, useCount: 1) }
    return .opened(environment)
  }

  private enum Beginning {
    /// The file is now among ``openings``.
    case opening(StoreFile.Identity)
    case ended(Attempt)
  }

  private static func begin(
    _ path: String, _ options: EnvironmentOptions
  ) throws(LMDBError) -> Beginning {
    gate.lock()
    defer { gate.unlock() }
    let identity: StoreFile.Identity
    switch try StoreFile.examine(path, allowsAnyFileSystem: options.allowsAnyFileSystem) {
    case .absent: return .ended(.mustCreate)
    case .empty:
      // The file has an owner, and another process may be about to fill it.
      throw LMDBError(
        .notAnEnvironment("it is empty; remove it first, if nobody needs it"), operation: "open",
        path: path)
    case .present(let found): identity = found
    }
    if let known = try reuse(identity, path, options) { return .ended(known) }
    let isFirst = openings.withLock { $0.insert(identity).inserted }
    return isFirst ? .opening(identity) : .ended(.isOpening)
  }

  private static func reuse(
    _ identity: StoreFile.Identity, _ path: String, _ options: EnvironmentOptions
  ) throws(LMDBError) -> Attempt? {
    return try entries.withLock { (entries) throws(LMDBError) in
      dropInherited(&entries)
      if let entry = entries[identity] {
        guard entry.useCount > 0 else { return .isClosing }
        let isWriting = options.access != .readOnly && !entry.environment.isSealed
        if isWriting, entry.environment.options.access == .readOnly {
          throw LMDBError(
            .unsuitablePath("already open read-only in this process; close it first"),
            operation: "open for writing", path: entry.environment.path)
        }
        entries[identity]?.useCount += 1
        if isWriting { entry.environment.strengthen(to: options.durability) }
        return .opened(entry.environment)
      }
      // The lock file may belong to a data file that was replaced under an open environment.
      if !entries.isEmpty, let lock = StoreFile.identity(at: path + "-lock"),
        entries.values.contains(where: { $0.environment.lockIdentity == lock })
      {
        throw LMDBError(.mismatched(.otherDataFile), operation: "open", path: path)
      }
      return nil
    }
  }

  /// Discards the parent's environments in a forked child, so that the child can open the files.
  ///
  /// The objects are kept forever, because threads that did not survive the fork may hold their
  /// locks.
  private static func dropInherited(_ entries: inout [StoreFile.Identity: Entry]) {
    for (identity, entry) in entries where entry.environment.isForked {
      _ = Unmanaged.passRetained(entry.environment)
      entries[identity] = nil
    }
  }

  /// Opens a store in memory: a file without a name on a memory file system.
  package static func openInMemory<E: Error>(
    options: EnvironmentOptions, initialise: (WritingTransaction) throws(E) -> Void
  ) throws -> Environment {
    var options = options
    options.access = .readWrite(create: true)
    options.isNamed = false
    let temporary = try temporaryFileInMemory()
    return try withExtendedLifetime(temporary) {
      try open(temporary.storePath, options: options, initialise: initialise)
    }
  }

  /// Opens, for reading, a copy of the file at `path` in its state before the newest commit.
  package static func openPrevious(
    _ path: String, options: EnvironmentOptions,
    onCheck: (_ done: Int, _ total: Int) -> Bool = { _, _ in true }
  ) throws(LMDBError) -> Environment {
    guard case .present = try StoreFile.examine(path, allowsAnyFileSystem: true) else {
      throw LMDBError(code: ENOENT, operation: "open", path: path)
    }
    var options = options
    options.access = .readOnly
    options.isNamed = false
    let copy = try PreviousCommit.copy(path)
    defer { copy.close() }
    let facts = try MetaPages(file: copy.descriptor, path: path).check(allowsOtherEngine: true)
    guard !facts.isSealed else {
      throw LMDBError(
        .noPreviousCommit("the file is sealed, and has one state; open it as it is"),
        operation: "open", path: path)
    }
    if options.trust == .verifyFirst { try options.checkPages?(copy.descriptor, path, onCheck) }
    let environment =
      facts.format == .ofEngine
      ? try Environment.openUnshared(copy.descriptor, as: path, options: options)
      : try Environment.openInPages(copy.descriptor, as: path, options: options)
    entries.withLock { $0[environment.identity] = Entry(environment: environment, useCount: 1) }
    return environment
  }

  /// Throws if the name of `path` is too long for a store.
  package static func checkName(of path: String) throws(LMDBError) {
    try StoreFile.checkName(of: path)
  }

  /// Creates a temporary file in memory.
  ///
  /// If this process is killed, the next process that creates such a file removes this file.
  static func temporaryFileInMemory() throws(LMDBError) -> TemporaryFile {
    try TemporaryFile(for: memoryDirectory + "/store", mode: 0o600)
  }

  /// The directory for files in memory.
  ///
  /// Without a memory file system, a temporary file without a name comes closest.
  private static var memoryDirectory: String {
    #if os(Linux)
      if access("/dev/shm", W_OK) == 0 { return "/dev/shm" }
    #endif
    return StoreFile.temporaryDirectory
  }

  /// Removes a store and its lock file, if no process has the store open.
  ///
  /// - Returns: Whether the store is gone.
  package static func removeUnused(_ path: String) -> Bool {
    gate.lock()
    defer { gate.unlock() }
    guard let found = try? StoreFile.examine(path, allowsAnyFileSystem: true) else { return false }
    switch found {
    case .absent: return true
    case .empty: return false
    case .present(let identity):
      // A lock of this process would not prevent the lock below, which would then end it.
      let isOpen =
        openings.withLock { $0.contains(identity) } || entries.withLock { $0[identity] != nil }
      guard !isOpen, let lock = try? UnusedLockFile(ofStore: path, operation: "remove"),
        unlink(path) == 0
      else { return false }
      lock.remove()
      return true
    }
  }

  /// Ends one use of an environment that ``open(_:options:onCheck:initialise:)`` returned.
  ///
  /// The last call closes the environment.
  ///
  /// A surplus call does nothing.
  package static func close(_ environment: Environment) {
    let identity = environment.identity
    let isLast = entries.withLock { entries in
      guard var entry = entries[identity], entry.environment === environment, entry.useCount > 0
      else { return false }
      entry.useCount -= 1
      entries[identity] = entry
      return entry.useCount == 0
    }
    guard isLast else { return }
    environment.shutDown {
      entries.withLock { entries in
        // The inode of a closed file without a name may now belong to another open file.
        if entries[identity]?.environment === environment { entries[identity] = nil }
      }
    }
  }
}
