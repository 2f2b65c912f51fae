import CLMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// What must be known of a file before LMDB may map it, and how a new one is put in place.
///
/// LMDB follows links, opens devices, believes lengths in the file, and creates in place; each has
/// cost others data (a short file is a bus error at the first missing page).
enum StoreFile {
  struct Identity: Hashable, Sendable {
    var device: UInt64
    var inode: UInt64
  }

  enum State {
    case absent
    case empty
    case present(Identity)
  }

  /// Checks `path` without opening it, then its meta pages.
  static func examine(_ path: String, allowsAnyFileSystem: Bool) throws(LMDBError) -> State {
    guard !path.utf8.contains(0), !path.isEmpty else {
      throw LMDBError(.unsuitablePath("empty, or has a zero byte"), operation: "open")
    }
    var status = stat()
    guard lstat(path, &status) == 0 else {
      if errno == ENOENT {
        try checkFileSystem(of: directory(of: path), allowsAnyFileSystem)
        return .absent
      }
      throw LMDBError(code: errno, operation: "open", path: path)
    }
    let kind = status.st_mode & S_IFMT
    guard kind == S_IFREG else {
      throw LMDBError(.unsuitablePath(describe(kind)), operation: "open", path: path)
    }
    try checkFileSystem(of: path, allowsAnyFileSystem)
    if status.st_size == 0 { return .empty }
    return .present(Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)))
  }

  static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func describe(_ kind: mode_t) -> String {
    switch kind {
    case S_IFLNK: "a symbolic link; name the file itself"
    case S_IFDIR: "a directory; a store is a file"
    case S_IFIFO: "a pipe"
    case S_IFSOCK: "a socket"
    default: "a device"
    }
  }

  /// Reads both meta pages; throws when they are not LMDB's or the file is shorter than they say.
  ///
  /// Only called while this process does not have the file open: closing any descriptor of it
  /// would be against LMDB's rules.
  static func checkMetaPages(_ path: String) throws(LMDBError) {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { throw LMDBError(code: errno, operation: "open", path: path) }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else {
      throw LMDBError(code: errno, operation: "open", path: path)
    }
    let size = UInt64(status.st_size)
    let first = try meta(file, at: 0, path)
    let pageSize = UInt64(first.pageSize)
    guard pageSize >= 256, pageSize <= 65_536, pageSize & (pageSize - 1) == 0 else {
      throw LMDBError(
        .notAnEnvironment("its first page says a page size of \(pageSize)"), operation: "open",
        path: path)
    }
    let second = try meta(file, at: off_t(pageSize), path)
    let newest = first.transaction >= second.transaction ? first : second
    let needed = (newest.lastPage &+ 1).multipliedReportingOverflow(by: pageSize)
    guard !needed.overflow, size >= needed.partialValue else {
      throw LMDBError(
        .truncated(size: size, needed: needed.overflow ? .max : needed.partialValue),
        operation: "open", path: path)
    }
  }

  private struct Meta {
    var pageSize: UInt32
    var lastPage: UInt64
    var transaction: UInt64
  }

  /// Layout of a meta page in LMDB data version 1 on a 64-bit machine: page header 16, magic 4,
  /// version 4, address 8, map size 8, two tree records of 48 (the first begins with the page
  /// size), last page 8, transaction 8.
  private static func meta(
    _ file: Int32, at offset: off_t, _ path: String
  ) throws(LMDBError) -> Meta {
    var bytes = [UInt8](repeating: 0, count: 152)
    let count = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, $0.count, offset) }
    func word(_ place: Int) -> UInt32 {
      bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt32.self) }
    }
    func long(_ place: Int) -> UInt64 {
      bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt64.self) }
    }
    let magic: UInt32 = 0xBEEF_C0DE
    func refuse(_ what: String) -> LMDBError {
      LMDBError(.notAnEnvironment(what), operation: "open", path: path)
    }
    guard count == 152 else { throw refuse("it is too short to be an LMDB file") }
    guard word(16) == magic else {
      if word(12) == magic { throw refuse("it is an LMDB file of a 32-bit machine") }
      if word(24) == magic { throw refuse("it is an LMDB file of the 1.0 format") }
      if word(16) == magic.byteSwapped {
        throw refuse("it is an LMDB file of a machine with the other byte order")
      }
      throw refuse("it is not an LMDB file")
    }
    guard word(20) == 1 else { throw refuse("its LMDB data version is \(word(20)), must be 1") }
    return Meta(pageSize: word(40), lastPage: long(136), transaction: long(144))
  }

  private static func checkFileSystem(
    of path: String, _ allowsAny: Bool
  ) throws(LMDBError) {
    guard !allowsAny else { return }
    #if os(Linux)
      var info = statfs()
      guard statfs(path, &info) == 0 else {
        throw LMDBError(code: errno, operation: "open", path: path)
      }
      let type = UInt32(truncatingIfNeeded: info.f_type)
      // ext2/3/4, xfs, btrfs, tmpfs, zfs, overlay (as in containers), f2fs, squashfs and iso9660
      // (read-only media).
      let known: Set<UInt32> = [
        0xEF53, 0x5846_5342, 0x9123_683E, 0x0102_1994, 0x2FC1_2FC1, 0x794C_7630, 0xF2F5_2010,
        0x7371_7368, 0x9660,
      ]
      guard known.contains(type) else {
        throw LMDBError(
          .unsupportedFileSystem("a file system of type 0x\(String(type, radix: 16))"),
          operation: "open", path: path)
      }
    #endif
  }

  /// Writes the lock file's bytes before LMDB maps it: a lock file that is sparse is a bus error on
  /// a full btrfs or tmpfs. An existing one is left alone; another process may hold it.
  static func prewriteLockFile(for path: String, options: EnvironmentOptions) {
    let file = open(
      path + "-lock", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, mode_t(options.mode))
    guard file >= 0 else { return }
    let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
    let size = (64 * (Int(options.readerSlotCount) + 2) + pageSize - 1) / pageSize * pageSize
    let zeros = [UInt8](repeating: 0, count: size)
    if write(file, zeros, size) != size { unlink(path + "-lock") }
    close(file)
  }

  static func free(at path: String) -> UInt64? {
    var info = statvfs()
    guard statvfs(path, &info) == 0 else { return nil }
    return UInt64(info.f_bavail) * UInt64(info.f_frsize)
  }

  static func syncDirectory(of path: String) throws(LMDBError) {
    let directory = open(directory(of: path), O_RDONLY | O_CLOEXEC)
    guard directory >= 0 else { throw LMDBError(code: errno, operation: "create", path: path) }
    defer { close(directory) }
    guard fsync(directory) == 0 else {
      throw LMDBError(code: errno, operation: "create", path: path)
    }
  }

  /// A name beside `path` that nobody else uses.
  static func temporaryName(for path: String) -> String {
    let base = path.split(separator: "/").last.map(String.init) ?? "store"
    let number = UInt64.random(in: .min ... .max)
    return "\(directory(of: path))/.\(base).\(getpid()).\(String(number, radix: 36)).new"
  }

  /// Opens a new file for writing; −1 with `errno` when it is there already.
  static func createForWriting(_ path: String, mode: UInt32) -> Int32 {
    open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode_t(mode))
  }
}
