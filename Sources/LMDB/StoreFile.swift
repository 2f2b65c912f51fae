import CLMDB
import LodestoreBytes
import LodestoreSystem

/// Checks of a file before LMDB may map it, and the creation of lock files.
///
/// LMDB follows links, opens devices, trusts lengths in the file, and creates files in place. Each
/// of these properties has cost users data. For example, a short file causes a bus error at the
/// first missing page.
enum StoreFile {
  struct Identity: Hashable, Sendable {
    var device: UInt64
    var inode: UInt64

    init(device: UInt64, inode: UInt64) {
      self.device = device
      self.inode = inode
    }

    init(_ status: stat) {
      device = UInt64(truncatingIfNeeded: status.st_dev)
      inode = UInt64(status.st_ino)
    }
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
    try checkName(of: path)
    guard let status = stat(at: path, followsLink: false) else {
      if errno == ENOENT {
        try checkFileSystem(of: Folder.path(of: path), allowsAnyFileSystem)
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
    return .present(Identity(status))
  }

  /// Throws if the lock file of a new file could not be created, or its name could not be opened.
  static func checkName(of path: String) throws(LMDBError) {
    let name = path.utf8.split(separator: UInt8(ascii: "/")).last?.count ?? 0
    // Shorter names fit every file system: eCryptfs has the lowest limit, 143 bytes.
    let longest =
      name + "-lock".utf8.count > 143 ? pathconf(Folder.path(of: path), Int32(_PC_NAME_MAX)) : 0
    if longest > 0, name + "-lock".utf8.count > longest {
      throw LMDBError(
        .unsuitablePath(
          "a name of \(name) bytes, of which \(longest - 5) are the most: the lock file beside it has "
            + "'-lock' appended"), operation: "open", path: path)
    }
    if path.utf8.count + "-lock".utf8.count >= PATH_MAX {
      throw LMDBError(
        .unsuitablePath("a path of \(path.utf8.count) bytes, too long for the lock file's"),
        operation: "open", path: path)
    }
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

  /// Reads the meta pages; throws if they are not LMDB's or the file is shorter than they state.
  ///
  /// Call it only while this process does not have the file open: LMDB forbids closing any other
  /// descriptor of it.
  ///
  /// The file may have a format that LMDB does not read.
  static func checkMetaPages(_ path: String) throws(LMDBError) -> MetaPages.Meta {
    let file = try openForReading(path)
    defer { close(file) }
    return try MetaPages(file: file, path: path).check(allowsOtherEngine: true)
  }

  /// Opens a file without following a link and without blocking at a pipe.
  static func openForReading(_ path: String) throws(LMDBError) -> Int32 {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { throw LMDBError(code: errno, operation: "open", path: path) }
    return file
  }

  static func identity(at path: String) -> Identity? {
    stat(at: path, followsLink: false).map(Identity.init)
  }

  static func identity(of file: Int32) -> Identity? { stat(of: file).map(Identity.init) }

  private static func checkFileSystem(of path: String, _ allowsAny: Bool) throws(LMDBError) {
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

  /// Creates a missing lock file with every byte written.
  ///
  /// LMDB would create a sparse file, and on a full btrfs or tmpfs the first touch of a hole is a
  /// bus error. The file is named only when it is complete, because another process may use it from
  /// the moment the name exists.
  ///
  /// The file gets the data file's permissions and owner. Otherwise, if an administrator opens the
  /// store first, its owner could not use the lock file.
  static func prewriteLockFile(for path: String, options: EnvironmentOptions) throws(LMDBError) {
    let lockPath = path + "-lock"
    if let lock = stat(at: lockPath, followsLink: false) {
      // LMDB would follow a link and overwrite its target.
      guard lock.isRegularFile else {
        throw LMDBError(
          .unsuitablePath("no regular file; remove it"), operation: "open", path: lockPath)
      }
      return
    }
    guard let data = stat(at: path, followsLink: false) else { return }
    // If the file cannot be created, LMDB reports the reason when it tries.
    guard let temporary = try? TemporaryFile(for: lockPath, mode: 0o600) else { return }
    if geteuid() != data.st_uid,
      fchown(temporary.descriptor, data.st_uid, data.st_gid) != 0, data.st_mode & 0o020 == 0
    {
      throw LMDBError(code: EACCES, operation: "make the lock file of", path: path)
    }
    fchmod(temporary.descriptor, data.st_mode & 0o666)
    keepInPlace(temporary.descriptor)
    // LMDB creates a lock file of this size. A larger file would allow more readers.
    let size = LockFileLayout.size(readerCount: Int(options.readerSlotCount))
    let zeros = [UInt8](repeating: 0, count: size)
    let code = zeros._withBytes { $0.writeAll(to: temporary.descriptor) }
    guard code == 0 else {
      throw failedWrite(code, to: temporary.descriptor, operation: "open", path: path)
    }
    // If another process has created the file meanwhile, that file is used.
    _ = temporary.move(to: lockPath)
  }

  /// Makes btrfs write the bytes of a still empty file in place, as other file systems do.
  ///
  /// By default btrfs writes each change to another place of the disk, and a full disk has no room
  /// for such a write. A change through the map is then a bus error, even for bytes written before.
  private static func keepInPlace(_ file: Int32) {
    #if os(Linux)
      var flags: Int = 0
      // The numbers are FS_IOC_GETFLAGS, FS_IOC_SETFLAGS and FS_NOCOW_FL. Other file systems refuse
      // them without harm.
      guard ioctl(file, 0x8008_6601, &flags) == 0 else { return }
      flags |= 0x0080_0000
      _ = ioctl(file, 0x4008_6602, &flags)
    #endif
  }

  /// The number of bytes that this process may still write to the file system of `file`.
  static func free(on file: Int32) -> UInt64? {
    var info = statvfs()
    guard fstatvfs(file, &info) == 0 else { return nil }
    // Root may use the reserve of ext4. Btrfs may keep free space for its own pages.
    let isRoots = geteuid() == 0 && !isOnBtrfs(file)
    let blocks = isRoots ? UInt64(info.f_bfree) : UInt64(info.f_bavail)
    return blocks * UInt64(info.f_frsize)
  }

  private static func isOnBtrfs(_ file: Int32) -> Bool {
    #if os(Linux)
      var info = statfs()
      return fstatfs(file, &info) == 0 && UInt32(truncatingIfNeeded: info.f_type) == 0x9123_683E
    #else
      return false
    #endif
  }

  /// The kind of error for a failed write to `file` on a full file system.
  ///
  /// LMDB returns EIO for a write cut short by a full disk. The small free space distinguishes this
  /// case.
  static func fullDisk(_ code: Int32, _ file: Int32) -> LMDBError.Kind? {
    guard [EIO, ENOSPC, EDQUOT].contains(code), let free = free(on: file),
      code != EIO || free < 16 << 20
    else { return nil }
    return .diskFull(freeBytes: free)
  }

  /// The error of a write to `file` that failed with `code`.
  static func failedWrite(
    _ code: Int32, to file: Int32, operation: String, path: String
  ) -> LMDBError {
    guard let kind = fullDisk(code, file) else {
      return LMDBError(code: code, operation: operation, path: path)
    }
    return LMDBError(kind, code: code, operation: operation, path: path)
  }

  /// The first 4 KiB of a file that the system makes up, as in `/proc`; `nil` if it cannot be read.
  static func systemText(_ path: String) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    let bytes = [UInt8](unsafeUninitializedCapacity: 4_096) { bytes, count in
      count = max(0, read(file, bytes.baseAddress, bytes.count))
    }
    return bytes.isEmpty ? nil : bytes
  }

  static func isOnReadOnlyMedium(_ path: String) -> Bool {
    var info = statvfs()
    return statvfs(path, &info) == 0 && UInt(info.f_flag) & UInt(ST_RDONLY) != 0
  }

  static func syncDirectory(of path: String) throws(LMDBError) {
    let directory = open(Folder.path(of: path), O_RDONLY | O_CLOEXEC)
    guard directory >= 0 else { throw LMDBError(code: errno, operation: "create", path: path) }
    defer { close(directory) }
    guard fsync(directory) == 0 else {
      throw LMDBError(code: errno, operation: "create", path: path)
    }
  }

  static var temporaryDirectory: String {
    getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
  }
}
