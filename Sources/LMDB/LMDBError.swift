import CLMDB
import LodestoreSystem

/// An error code of LMDB or the operating system, or a fault that this layer found itself.
package struct LMDBError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kinds that this layer distinguishes.
  ///
  /// Every other code of LMDB is ``Kind/engine``.
  package enum Kind: Sendable, Equatable {
    /// LMDB returned an error code or an `errno`; see `code` and `name`.
    case engine
    /// The path is a link, a directory or a device, or has a zero byte. The text names the fault.
    case unsuitablePath(String)
    /// The file system cannot hold a live store. The text names the file system.
    case unsupportedFileSystem(String)
    /// The file is not an LMDB file of this kind. The text states the reason.
    case notAnEnvironment(String)
    /// The file has the other LMDB format, which the engine of this process cannot read.
    case otherEngine(PageFormat)
    /// The file is shorter than its meta pages state.
    case truncated(size: UInt64, needed: UInt64)
    /// A number in the file is impossible. The text names it.
    case damaged(String)
    /// The commit before the newest one is not available. The text states the reason.
    case noPreviousCommit(String)
    /// The data file and the lock file do not belong together.
    case mismatched(FileMismatch)
    case closed
    /// The caller cancelled the operation.
    case cancelled
    case usedAfterFork
    case nestedWrite
    /// A sync failed earlier. Nothing may be written until the file is opened again.
    case poisoned
    /// Other processes committed so often that pages of a read without a lock file may have been
    /// overwritten.
    case overtaken
    /// The map must grow, but cannot grow. The text states the reason.
    case cannotGrow(String)
    /// The file system has no room for a write.
    case diskFull(freeBytes: UInt64)
    /// This process may not create larger files (RLIMIT_FSIZE). The value is the limit in bytes.
    case fileSizeLimit(UInt64)
    /// The maximum number of trees is open.
    case treesFull
    case keySize(Int)
    case valueSize(Int)
    /// A writer of another process has held the turn beyond this process's limit. The text names
    /// the process.
    case writerBusy(String)
  }

  /// The evidence that a data file and a lock file do not belong together.
  package enum FileMismatch: Sendable, Equatable {
    /// At open: another process has the data file open with another lock file.
    case otherLockFile
    /// At open: this or another process has the lock file open for another data file.
    case otherDataFile
    /// At open: LMDB accepts the data file but not its lock file.
    case unusableLockFile
    /// The lock file's last transaction cannot belong to the data file.
    case transactions(lockFile: UInt64, dataFile: UInt64)
    /// While open: the path leads to another data file, or to none.
    case dataFileReplaced
    /// While open: the path leads to another lock file, or to none.
    case lockFileReplaced
    /// While a process has the store open: the lock file is shorter than the lock file that LMDB
    /// creates.
    case lockFileCut
  }

  package var kind: Kind
  package var code: Int32
  package var operation: String
  package var path: String?

  /// Whether the machine lacks memory or descriptors, so that the error does not concern the file.
  package var isShortage: Bool { [ENOMEM, EMFILE, ENFILE, EAGAIN].contains(code) }

  package init(_ kind: Kind, code: Int32 = 0, operation: String, path: String? = nil) {
    self.kind = kind
    self.code = code
    self.operation = operation
    self.path = path
  }

  package init(code: Int32, operation: String, path: String? = nil) {
    let kind: Kind = code == MDB_DBS_FULL ? .treesFull : .engine
    self.init(kind, code: code, operation: operation, path: path)
  }

  /// Makes an error for a damaged page, with LMDB's code for it.
  package init(_ error: PageError, operation: String, path: String? = nil) {
    self.init(.damaged("\(error)"), code: MDB_CORRUPTED, operation: operation, path: path)
  }

  /// Makes an error for a file that could not be read at all.
  package init(_ error: VerificationError, operation: String, path: String) {
    let kind: Kind =
      switch error {
      case .notAStore(let reason): .notAnEnvironment(reason)
      case .damagedHeader(let reason): .damaged(reason)
      case .cancelled: .cancelled
      case .newerFormat, .system: .engine
      }
    let code: Int32 = if case .system(let code) = error { code } else { 0 }
    self.init(kind, code: code, operation: operation, path: path)
  }

  /// LMDB's name for the code, or `errno` with its number.
  package var name: String { Self.names[code] ?? "errno \(code)" }

  /// The text of LMDB or the system for the code.
  package var reason: String { String(cString: mdb_strerror(code)) }

  package var isMapFull: Bool { code == MDB_MAP_FULL }

  package var description: String {
    let location = path.map { " '\($0)'" } ?? ""
    let thing = "cannot \(operation)\(location)"
    let number = "\(name) (\(code))"
    return switch kind {
    case .engine: "\(thing): \(number), \(reason)"
    case .unsuitablePath(let what): "\(thing): it is \(what)"
    case .unsupportedFileSystem(let what): "\(thing): it is on \(what)"
    case .notAnEnvironment(let what): "\(thing): \(what)"
    case .otherEngine(let format):
      "\(thing): \(format.engine) made it, and \(PageFormat.engineVersion) writes only files of "
        + PageFormat.ofEngine.engine
    case .truncated(let size, let needed):
      "\(thing): the file has \(size) bytes, its header says \(needed)"
    case .damaged(let what): "\(thing): \(what)"
    case .noPreviousCommit(let why): "\(thing): \(why)"
    case .mismatched(let how): "\(thing): \(how)"
    case .closed: "\(thing): it is closed"
    case .cancelled: "\(thing): cancelled"
    case .usedAfterFork: "\(thing): it was opened before this process was forked"
    case .nestedWrite: "\(thing): this thread is inside a write already"
    case .overtaken: "\(thing): another process has written the file meanwhile"
    case .poisoned: "\(thing): an earlier write or sync failed; close it and open it again"
    case .cannotGrow(let why): "\(thing): MDB_MAP_FULL, and the map cannot grow: \(why)"
    case .diskFull(let free): "\(thing): \(number), \(free) bytes free on disk"
    case .fileSizeLimit(let limit):
      "\(thing): files of this process may have \(limit) bytes (RLIMIT_FSIZE)"
    case .treesFull: "\(thing): MDB_DBS_FULL, no more trees can be open"
    case .keySize(let size):
      "\(thing): MDB_BAD_VALSIZE, the key has \(size) bytes, must have 1 to 511, or 8 in a tree of "
        + "integer keys"
    case .valueSize(let size):
      "\(thing): MDB_BAD_VALSIZE, the value has \(size) bytes, at most 1 GiB"
    case .writerBusy(let holder): "\(thing): \(holder) holds the writer's turn"
    }
  }

  private static let names: [Int32: String] = [
    MDB_KEYEXIST: "MDB_KEYEXIST", MDB_NOTFOUND: "MDB_NOTFOUND",
    MDB_PAGE_NOTFOUND: "MDB_PAGE_NOTFOUND", MDB_CORRUPTED: "MDB_CORRUPTED",
    MDB_PANIC: "MDB_PANIC", MDB_VERSION_MISMATCH: "MDB_VERSION_MISMATCH",
    MDB_INVALID: "MDB_INVALID", MDB_MAP_FULL: "MDB_MAP_FULL", MDB_DBS_FULL: "MDB_DBS_FULL",
    MDB_READERS_FULL: "MDB_READERS_FULL", MDB_TLS_FULL: "MDB_TLS_FULL",
    MDB_TXN_FULL: "MDB_TXN_FULL", MDB_CURSOR_FULL: "MDB_CURSOR_FULL",
    MDB_PAGE_FULL: "MDB_PAGE_FULL", MDB_MAP_RESIZED: "MDB_MAP_RESIZED",
    MDB_INCOMPATIBLE: "MDB_INCOMPATIBLE", MDB_BAD_RSLOT: "MDB_BAD_RSLOT",
    MDB_BAD_TXN: "MDB_BAD_TXN", MDB_BAD_VALSIZE: "MDB_BAD_VALSIZE", MDB_BAD_DBI: "MDB_BAD_DBI",
    EPERM: "EPERM", ENOENT: "ENOENT", EIO: "EIO", ENOMEM: "ENOMEM", EACCES: "EACCES",
    EBUSY: "EBUSY", EEXIST: "EEXIST", ENOTDIR: "ENOTDIR", EISDIR: "EISDIR", EINVAL: "EINVAL",
    EFBIG: "EFBIG", ENOSPC: "ENOSPC", EROFS: "EROFS", EAGAIN: "EAGAIN", EMFILE: "EMFILE",
    ENFILE: "ENFILE", EDQUOT: "EDQUOT", ELOOP: "ELOOP", ENAMETOOLONG: "ENAMETOOLONG",
    EBADF: "EBADF", ESPIPE: "ESPIPE", EINTR: "EINTR", ENODEV: "ENODEV", ENOLCK: "ENOLCK",
    ENXIO: "ENXIO", ENOTSUP: "ENOTSUP", ESTALE: "ESTALE", EXDEV: "EXDEV",
  ]
}

extension LMDBError.FileMismatch: CustomStringConvertible {
  package var description: String {
    switch self {
    case .otherLockFile: "another process has the file open with another lock file"
    case .otherDataFile: "its lock file is in use for another file, which had this path before"
    case .unusableLockFile: "its lock file is not one of this LMDB, or could not be locked"
    case .transactions(let lockFile, let dataFile):
      "its lock file says that transaction \(lockFile) is the last, its meta pages say \(dataFile)"
    case .dataFileReplaced: "the path does not lead to the open file any more"
    case .lockFileReplaced: "the path of the lock file does not lead to the open one any more"
    case .lockFileCut: "its lock file was cut while a process has the store open"
    }
  }
}
