import LodestoreSystem

/// The open environments of this process, by device and inode.
///
/// LMDB must not open a file twice in one process: closing either copy drops the process's locks,
/// and the next process reuses pages under the other's snapshots. Paths do not tell, because of
/// hard links. An environment stays here until LMDB has closed it, not only until it is given back.
package enum EnvironmentRegistry {
  private struct Entry {
    var environment: Environment
    var useCount: Int
  }

  private enum Attempt {
    case opened(Environment)
    case mustCreate
    case isClosing
    /// Another thread opens it.
    case isOpening
    /// The path leads to another file now, of this engine.
    case converted
  }

  private static let entries = Guarded<[StoreFile.Identity: Entry]>([:])
  /// The files that are being opened; whoever wants one of them waits.
  ///
  /// A set instead of a lock: the check of the pages of a large file takes long, and calls the
  /// program.
  private static let openings = Guarded<Set<StoreFile.Identity>>([])
  /// Serialises the examination of a file with its entry into ``openings``.
  private static let gate = HeldLock()

  /// Opens `path`, or returns the environment that this process has already opened it as.
  ///
  /// Each call is to be matched by ``close(_:)``.
  ///
  /// When the file was just closed here and a read still runs on it, waits for that up to the
  /// growth wait, then throws.
  ///
  /// - Parameters:
  ///   - onCheck: called with the progress of the check of the pages, and now and then 0 of 0 while another
  ///     thread opens the file; false ends it with ``LMDBError/Kind/cancelled``.
  ///   - initialise: makes the first commit of a new file.
  package static func open<E: Error>(
    _ path: String, options: EnvironmentOptions,
    onCheck: (_ done: Int, _ total: Int) -> Bool = { _, _ in true },
    initialise: (Transaction) throws(E) -> Void
  ) throws -> Environment {
    let deadline = monotonicSeconds() + options.growthWaitInSeconds
    var creationCount = 0
    while true {
      switch try attempt(path, options, onCheck) {
      case .opened(let environment):
        return environment
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
    /// The file is among ``openings`` now.
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
      // Somebody owns the file, and another process may be about to fill it.
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
      // A data file that was replaced under an open environment has its lock file.
      if !entries.isEmpty, let lock = StoreFile.identity(at: path + "-lock"),
        entries.values.contains(where: { $0.environment.lockIdentity == lock })
      {
        throw LMDBError(.mismatched(.otherDataFile), operation: "open", path: path)
      }
      return nil
    }
  }

  /// In a forked child the files of the parent are not open, and may be opened.
  ///
  /// The objects are kept for ever, since their locks may be held by threads that did not come
  /// along.
  private static func dropInherited(_ entries: inout [StoreFile.Identity: Entry]) {
    for (identity, entry) in entries where entry.environment.isForked {
      _ = Unmanaged.passRetained(entry.environment)
      entries[identity] = nil
    }
  }

  /// Opens a store that lives in memory: a file on a memory file system, without a name.
  package static func openInMemory<E: Error>(
    options: EnvironmentOptions, initialise: (Transaction) throws(E) -> Void
  ) throws -> Environment {
    var options = options
    options.access = .readWrite(create: true)
    options.isNamed = false
    let temporary = try temporaryFileInMemory()
    return try withExtendedLifetime(temporary) {
      try open(temporary.storePath, options: options, initialise: initialise)
    }
  }

  /// Opens a copy of the file at `path` as it was before its newest commit, for reading.
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

  /// Throws where the name of `path` is too long for a store.
  package static func checkName(of path: String) throws(LMDBError) {
    try StoreFile.checkName(of: path)
  }

  /// Makes a temporary file in memory.
  ///
  /// If this process is killed, the next process that makes one removes it.
  static func temporaryFileInMemory() throws(LMDBError) -> TemporaryFile {
    try TemporaryFile(for: memoryDirectory + "/store", mode: 0o600)
  }

  /// Where there is no memory file system, a temporary file without a name comes closest.
  private static var memoryDirectory: String {
    #if os(Linux)
      if access("/dev/shm", W_OK) == 0 { return "/dev/shm" }
    #endif
    return StoreFile.temporaryDirectory
  }

  /// Gives back one ``open(_:options:initialise:)``; the last one closes the environment.
  ///
  /// One call too many does nothing.
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
        // A file without a name may have had the number of one that is open by now.
        if entries[identity]?.environment === environment { entries[identity] = nil }
      }
    }
  }
}
