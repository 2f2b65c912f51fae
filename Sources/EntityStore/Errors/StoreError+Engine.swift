internal import LMDB
internal import LodestoreFormat
import LodestoreSystem

/// Runs `body`, and converts errors of the engine or the format to errors of the store.
@discardableResult @inline(__always)
func wrappingErrors<R>(_ body: () throws -> R) throws(StoreError) -> R {
  do { return try body() } catch { throw StoreError(wrapping: error) }
}

extension StoreError {
  /// The public error for an error of the engine, which becomes its cause.
  init(_ error: LMDBError) {
    self.init(Self.code(of: error), Self.message(for: error), cause: error)
  }

  /// The public error for any internal error.
  init(wrapping error: any Error) {
    switch error {
    case let error as StoreError: self = error
    case let error as LMDBError: self.init(error)
    case let error as FormatError:
      self.init(
        .damaged, "cannot read the store: \(error.reason); run 'kvdump verify'", cause: error)
    default: self.init(.inputOutput, "cannot go on: \(error)", cause: error)
    }
  }

  private static func code(of error: LMDBError) -> Code {
    switch error.kind {
    case .unsuitablePath, .unsupportedFileSystem: .unsuitablePath
    case .notAnEnvironment: .notAStore
    case .otherEngine: .otherEngine
    case .truncated, .damaged: .damaged
    case .noPreviousCommit: .noPreviousCommit
    case .mismatched: .mismatchedFiles
    case .closed, .usedAfterFork: .closed
    case .cancelled: .cancelled
    case .nestedWrite: .nestedWrite
    case .poisoned: .poisoned
    case .cannotGrow, .fileSizeLimit: .mapFull
    case .treesFull, .writerBusy: .busy
    case .overtaken: .snapshotExpired
    case .diskFull: .diskFull
    case .keySize, .valueSize: .unstorableValue
    case .engine:
      switch error.name {
      case "MDB_MAP_FULL": .mapFull
      case "MDB_READERS_FULL", "EAGAIN", "EBUSY": .busy
      case "MDB_CORRUPTED", "MDB_PAGE_NOTFOUND", "MDB_PAGE_FULL", "MDB_CURSOR_FULL",
        "MDB_INCOMPATIBLE":
        .damaged
      case "MDB_INVALID", "MDB_VERSION_MISMATCH": .notAStore
      case "MDB_PANIC": .poisoned
      case "MDB_BAD_TXN": .brokenTransaction
      case "ENOENT": .noSuchStore
      case "EEXIST": .unsuitablePath
      case "EACCES", "EPERM", "EROFS": .notPermitted
      case "ENOSPC", "EDQUOT": .diskFull
      default: .inputOutput
      }
    }
  }

  private static func message(for error: LMDBError) -> String {
    let thing = error.path.map { "\(error.operation) '\($0)'" } ?? error.operation
    return switch error.kind {
    case .unsuitablePath(let what): "cannot \(thing): it is \(what)"
    case .unsupportedFileSystem(let what):
      "cannot \(thing): it is on \(what), on which memory-mapped stores are not known to be safe; "
        + "use a local disk, or allowsAnyFileSystem"
    case .notAnEnvironment(let what): "cannot \(thing): \(what)"
    case .otherEngine(let format):
      "cannot \(thing): \(format.engine) made the file, and this program runs "
        + "\(PageFormat.engineVersion), which cannot write it; open it read-only, or convert it by "
        + "'convertsOtherEngine' or 'kvdump convert'"
    case .overtaken:
      "cannot \(thing): another process has written the file meanwhile, and it is read without a lock file, so "
        + "pages of the read may have been overwritten; read again"
    case .truncated(let size, let needed):
      "cannot \(thing): the file has \(size) bytes and its header says \(needed), so its end is "
        + "missing; restore it from a copy"
    case .damaged(let what):
      "cannot \(thing): \(what); restore it from a copy, or run 'kvdump salvage'"
    case .noPreviousCommit(let why): "cannot \(thing): \(why)"
    case .cancelled: "cannot \(thing): cancelled"
    case .mismatched(let how): mismatchMessage(how, thing, error.path ?? "")
    case .closed: "cannot \(thing): the store is closed"
    case .usedAfterFork:
      "cannot \(thing): the store was opened before this process was forked; open it in the child"
    case .nestedWrite:
      "cannot write inside a write on one store: the inner call would wait for the outer one "
        + "forever; use the transaction that is passed in"
    case .poisoned:
      "cannot \(thing): an earlier write or sync failed, so the state on disk is unknown; close "
        + "the store and open it again"
    case .cannotGrow(let why): "cannot \(thing): the map is full (MDB_MAP_FULL): \(why)"
    case .diskFull(let free):
      "cannot \(thing): \(error.name), the disk has \(free) bytes left; the last commit is whole; "
        + "free space and try again"
    case .fileSizeLimit(let limit):
      "cannot \(thing): files that this process writes may have \(limit) bytes at most (RLIMIT_FSIZE); "
        + "the last commit is whole; raise the limit, as with 'ulimit -f unlimited', and open it again"
    case .treesFull:
      "cannot \(thing): as many trees are open as can be (MDB_DBS_FULL); close the store in this process "
        + "and open it again"
    case .keySize(let size):
      "cannot \(thing): the key has \(size) bytes, must have 1 to 511 (MDB_BAD_VALSIZE)"
    case .valueSize(let size):
      "cannot \(thing): the value has \(size) bytes, at most 1 GiB (MDB_BAD_VALSIZE)"
    case .writerBusy(let holder):
      "cannot \(thing): \(holder) has been writing for as long as this write may wait; let that "
        + "process continue or end it, then try again"
    case .engine: engineMessage(error, thing)
    }
  }

  private static func mismatchMessage(
    _ how: LMDBError.FileMismatch, _ thing: String, _ path: String
  ) -> String {
    let reason =
      switch how {
      case .otherLockFile:
        "another process has this file open with another lock file than '\(path)-lock': by another "
          + "path (a hard link, a mount), or because the file was moved or its lock file removed; use "
          + "the path of that process, or close the store there first"
      case .otherDataFile:
        "its lock file '\(path)-lock' is in use by a process, this or another, that has another "
          + "file open, which had this path before; close the store there first"
      case .unusableLockFile:
        "its lock file '\(path)-lock' is not one of this version of LMDB, or could not be locked; close "
          + "the store in every process, then remove the lock file"
      case .transactions(let lockFile, let dataFile):
        "its lock file says that transaction \(lockFile) is the last, its meta pages say "
          + "\(dataFile): the file was replaced, or has another lock file elsewhere; close the store "
          + "in every process, then open it again"
      case .dataFileReplaced:
        "the path does not lead to the open file any more, which was replaced, moved or removed, and "
          + "writes would be lost; close the store and open it again"
      case .lockFileReplaced:
        "'\(path)-lock' is not the open lock file any more, which was replaced, moved or removed, so "
          + "that other processes could write at once; close the store in every process, then open "
          + "it again"
      case .lockFileCut:
        "its lock file '\(path)-lock' was cut while a process has the store open; end every process "
          + "that has it open, then open it again"
      }
    return "cannot \(thing): \(reason)"
  }

  private static func engineMessage(_ error: LMDBError, _ thing: String) -> String {
    let hint =
      switch error.name {
      case "ENOENT":
        "there is no such file or directory; check the path; access .create makes the file, in a "
          + "directory that is there"
      case "EEXIST":
        "something is there already (EEXIST), and nothing is replaced; take another path, or remove it first"
      case "EACCES", "EPERM": "\(permissionFault(at: error.path)) (\(error.name))"
      case "ENOMEM":
        "the system has no memory or address space for its map (ENOMEM); lower mapSizeInBytes in the "
          + "StoreOptions"
      case "EAGAIN": "the system has no further thread or lock at this moment (EAGAIN); try again"
      case "EROFS": "the file system is read-only (EROFS); open it read-only"
      case "MDB_READERS_FULL":
        "all reader slots are taken (MDB_READERS_FULL); end snapshots that are not needed"
      case "MDB_BAD_TXN":
        "the transaction has failed before (MDB_BAD_TXN); when nothing else did, run 'kvdump verify'"
      case "MDB_INCOMPATIBLE":
        "a tree has flags that it must not have (MDB_INCOMPATIBLE); run 'kvdump verify'"
      default: "\(error.name) (\(error.code)), \(error.reason)"
      }
    return "cannot \(thing): \(hint)"
  }

  /// The missing permission of this process, and the change that grants it.
  ///
  /// - Parameters:
  ///   - path: the path of the store's file.
  ///   - may: returns whether this process has a kind of access to a path. Tests may run as a
  ///     superuser and pass another function.
  static func permissionFault(
    at path: String?, may: (_ path: String, _ mode: Int32) -> Bool = { access($0, $1) == 0 }
  ) -> String {
    let lockHint = "readers need write access to the lock file too"
    guard let path else { return "this process may not; \(lockHint)" }
    let parent = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    let directory = parent.isEmpty ? "/" : parent
    if !may(directory, X_OK) {
      return
        "this process may not enter the directory '\(directory)'; change the permissions of it and of those "
        + "above it"
    }
    let isThere = may(path, F_OK)
    if isThere, !may(path, R_OK) {
      return "this process may not read the file; change its permissions"
    }
    let lock = "\(path)-lock"
    if may(lock, F_OK), !may(lock, R_OK | W_OK) {
      return "this process may not write its lock file '\(lock)'; \(lockHint)"
    }
    if !may(lock, F_OK) || !isThere, !may(directory, W_OK) {
      return "this process may not make files in the directory '\(directory)', and "
        + "\(isThere ? "the lock file" : "the store") has to be made there; change its permissions, or take another "
        + "directory"
    }
    if isThere, !may(path, W_OK) {
      return "this process may not write the file; open it read-only, or change its permissions"
    }
    return "this process may not; \(lockHint)"
  }

  /// Returns whether the error's message already contains everything that the text of `cause` says.
  func messageIncludes(_ cause: any Error) -> Bool {
    if let cause = cause as? LMDBError, cause.kind != .engine { return true }
    return message.contains("\(cause)")
  }
}
