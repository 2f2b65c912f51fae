internal import CLMDB

extension Environment {
  /// Makes a data file with its first commit, complete and durable before it gets its name.
  ///
  /// The engine writes both meta pages of a new file without synchronizing them; a power cut right
  /// then leaves a file that cannot be opened. That happens to a temporary name here.
  ///
  /// Does nothing if a file of that name turns up meanwhile.
  static func createFile(
    at path: String, options: EnvironmentOptions,
    initialize: ((borrowing WriteTransaction) throws -> Void)?
  ) throws {
    try checkFileSystem(of: SystemCalls.directory(of: path), options)
    let temporaryPath = TemporaryName.make(for: path)
    defer {
      SystemCalls.remove(temporaryPath)
      SystemCalls.remove(LockFile.path(for: temporaryPath))
    }
    try fillFile(at: temporaryPath, options: options, initialize: initialize)
    do {
      try SystemCalls.link(temporaryPath, to: path)
      try SystemCalls.synchronizeDirectory(of: path)
    } catch {
      if error.code == EngineCode.exists { return }
      throw LMDBError(engine: error.code, operation: "create", path: path)
    }
  }

  private static func fillFile(
    at path: String, options: EnvironmentOptions,
    initialize: ((borrowing WriteTransaction) throws -> Void)?
  ) throws {
    let status = try makeEmptyFile(at: path, options: options)
    // Unregistered: nobody else knows the name. It is freed before the file gets its real one.
    let environment = try openEngine(path: path, status: status, options: options)
    defer { environment.freeEngine() }
    if let initialize { try environment.write(initialize) }
    let code = mdb_env_sync(environment.raw, 1)
    guard code == MDB_SUCCESS else { throw environment.failure(code, "create") }
  }

  /// An empty file of the right owner and permissions, which the engine then fills with its first
  /// pages.
  static func makeEmptyFile(
    at path: String, options: EnvironmentOptions
  ) throws(LMDBError) -> FileStatus {
    do {
      let descriptor = try SystemCalls.createFile(path, permissions: options.permissions)
      defer { SystemCalls.closeDescriptor(descriptor) }
      return try SystemCalls.status(of: descriptor)
    } catch {
      throw LMDBError(engine: error.code, operation: "create", path: path)
    }
  }
}
