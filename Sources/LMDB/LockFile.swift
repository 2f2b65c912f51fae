/// The file beside the data file in which processes see each other.
///
/// Its name is LMDB's: the data file's with "-lock" at the end. Only the engine may open it once
/// it is in place: closing any descriptor of it drops the locks that the process holds.
enum LockFile {
  static func path(for dataPath: String) -> String { dataPath + "-lock" }

  /// What came of looking for a lock file to use.
  enum Availability: Equatable {
    case usable
    /// None can be made or written here, with the system's reason.
    case unavailable(code: Int32, exists: Bool)
  }

  /// Makes the lock file if there is none, with every byte written.
  ///
  /// The engine would make it with a hole. On a full disk the first touch of a hole through the
  /// map is a SIGBUS and not an error. It gets its name only when it is complete: another process
  /// may take it into use the moment the name is there, and zeros written after that would wipe
  /// out its locks.
  ///
  /// - Parameter data: The data file, whose permissions and owner the lock file gets. A reader of
  ///   another user who made it his own would lock the owner out.
  static func prepare(
    for dataPath: String, like data: FileStatus, readerSlotCount: Int
  ) throws(LMDBError) -> Availability {
    let lockPath = path(for: dataPath)
    if let status = try? SystemCalls.status(ofLinkAt: lockPath) {
      guard status.kind == .regular else {
        throw LMDBError(
          .unsuitablePath(status.kind.pathProblem), operation: "open", path: lockPath)
      }
      guard let code = SystemCalls.obstacleToWriting(lockPath) else { return .usable }
      return .unavailable(code: code, exists: true)
    }
    let temporaryPath = TemporaryName.make(for: lockPath)
    let descriptor: Int32
    do {
      descriptor = try SystemCalls.createFile(temporaryPath, permissions: data.permissions & 0o666)
    } catch {
      guard error.code == EngineCode.permissionDenied || error.code == EngineCode.readOnlyFileSystem
      else { throw LMDBError(engine: error.code, operation: "make the lock file", path: lockPath) }
      return .unavailable(code: error.code, exists: false)
    }
    defer {
      SystemCalls.closeDescriptor(descriptor)
      SystemCalls.remove(temporaryPath)
    }
    do {
      if data.owner != SystemCalls.effectiveUser && SystemCalls.effectiveUser == 0 {
        SystemCalls.changeOwner(of: descriptor, to: data.owner, group: data.group)
      }
      SystemCalls.avoidCopyOnWrite(descriptor)
      try SystemCalls.writeZeros(size(readerSlotCount: readerSlotCount), to: descriptor)
      try SystemCalls.link(temporaryPath, to: lockPath)
    } catch {
      // Somebody else was faster, with a file of the same kind.
      if error.code == EngineCode.exists { return .usable }
      throw LMDBError(engine: error.code, operation: "make the lock file", path: lockPath)
    }
    return .usable
  }

  /// A header and the two mutexes take two slots of 64 bytes beyond the readers'.
  ///
  /// Exactly this length: the engine makes reader slots of whatever length it finds.
  private static func size(readerSlotCount: Int) -> Int { 64 * (readerSlotCount + 2) }
}

extension FileStatus.Kind {
  var pathProblem: LMDBError.PathProblem {
    switch self {
    case .directory: .directory
    case .symbolicLink: .symbolicLink
    case .fifo: .fifo
    case .socket: .socket
    case .characterDevice: .characterDevice
    case .blockDevice, .regular: .blockDevice
    }
  }
}
