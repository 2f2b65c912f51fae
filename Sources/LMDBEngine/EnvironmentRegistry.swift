import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The open environments of this process, by device and inode.
///
/// LMDB must not open a file twice in one process: closing either copy drops the process's locks,
/// and the next process reuses pages under the other's snapshots. Paths do not tell, because of hard links.
package enum EnvironmentRegistry {
  private struct Entry {
    var environment: Environment
    var useCount: Int
  }

  private static let entries = Mutex<[StoreFile.Identity: Entry]>([:])

  /// Opens `path`, or returns the environment that this process has already opened it as.
  ///
  /// Each call is to be matched by ``close(_:)``. An environment that is being closed, while its
  /// last snapshot still runs, is waited for, up to `growthWaitInSeconds`.
  ///
  /// - Parameter initialise: what the first commit of a new file holds.
  package static func open<E: Error>(
    _ path: String, options: EnvironmentOptions, initialise: (Transaction) throws(E) -> Void
  ) throws -> Environment {
    var waited = 0.0
    while true {
      let opened: Environment? = try entries.withLock { entries in
        try openOrWait(path, options, &entries, initialise)
      }
      if let opened { return opened }
      guard waited < options.growthWaitInSeconds else {
        throw LMDBError(
          .unsuitablePath("still open under a snapshot of a store that was closed"),
          operation: "open", path: path)
      }
      usleep(1000)
      waited += 0.001
    }
  }

  private static func openOrWait<E: Error>(
    _ path: String, _ options: EnvironmentOptions,
    _ entries: inout [StoreFile.Identity: Entry], _ initialise: (Transaction) throws(E) -> Void
  ) throws -> Environment? {
    var state = try StoreFile.examine(path, allowsAnyFileSystem: options.allowsAnyFileSystem)
    if case .present(let identity) = state, let entry = entries[identity] {
      return entry.environment.isClosing ? nil : try reuse(entry, identity, &entries, options)
    }
    if case .empty = state {
      throw LMDBError(
        .notAnEnvironment("it is empty; remove it first, if nobody needs it"), operation: "open",
        path: path)
    }
    if case .absent = state {
      guard options.access == .readWrite(create: true) else {
        throw LMDBError(code: ENOENT, operation: "open", path: path)
      }
      try Environment.create(path, options: options, initialise: initialise)
      state = try StoreFile.examine(path, allowsAnyFileSystem: options.allowsAnyFileSystem)
    }
    guard case .present(let identity) = state else {
      throw LMDBError(code: ENOENT, operation: "open", path: path)
    }
    try MetaPages.check(path)
    let environment = try Environment.openUnregistered(path, options: options, identity: identity)
    entries[identity] = Entry(environment: environment, useCount: 1)
    return environment
  }

  private static func reuse(
    _ entry: Entry, _ identity: StoreFile.Identity,
    _ entries: inout [StoreFile.Identity: Entry], _ options: EnvironmentOptions
  ) throws(LMDBError) -> Environment {
    if options.access != .readOnly, entry.environment.options.access == .readOnly {
      throw LMDBError(
        .unsuitablePath("already open read-only in this process; close it first"),
        operation: "open for writing", path: entry.environment.path)
    }
    entries[identity]?.useCount += 1
    return entry.environment
  }

  /// Opens a store that lives in memory: a file on a memory file system, without a name.
  package static func openInMemory<E: Error>(
    options: EnvironmentOptions, initialise: (Transaction) throws(E) -> Void
  ) throws -> Environment {
    #if os(Linux)
      let directory = "/dev/shm"
    #else
      let directory = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    #endif
    let path = "\(directory)/lodestore.\(getpid()).\(String(UInt64.random(in: .min ... .max), radix: 36))"
    var options = options
    options.access = .readWrite(create: true)
    defer {
      unlink(path)
      unlink(path + "-lock")
    }
    return try open(path, options: options, initialise: initialise)
  }

  /// Gives back one ``open(_:options:initialise:)``; the last one closes the environment.
  ///
  /// Transactions that still run go on to their end, and the file is closed with the last of them.
  package static func close(_ environment: Environment) {
    guard let identity = environment.identity else { return }
    let isLast = entries.withLock { entries in
      guard var entry = entries[identity], entry.environment === environment else { return false }
      entry.useCount -= 1
      entries[identity] = entry
      return entry.useCount == 0
    }
    if isLast { environment.shutDown() }
  }

  /// Forgets an environment whose file is closed: from now on it may be opened anew.
  static func remove(_ environment: Environment, _ identity: StoreFile.Identity) {
    entries.withLock { entries in
      if entries[identity]?.environment === environment { entries[identity] = nil }
    }
  }
}
