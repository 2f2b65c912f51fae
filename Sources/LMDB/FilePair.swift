import LodestoreSystem

/// The data file and the lock file of an open environment, tied together across processes.
///
/// LMDB finds its lock file by path. A hard link, a bind mount, a renamed file or a removed lock
/// file gives one data file two lock files, and so two writers at once. A data file replaced by
/// rename gives one lock file two data files, with transaction numbers of the wrong one.
///
/// Each process therefore takes a shared lock on one byte of either file. The position of the byte
/// follows from the identity of the other file. A process that holds a different byte has the file
/// open in another pair.
///
/// The locks belong to the open file description. LMDB's own locks belong to the process and do not
/// conflict with them, and the kernel releases them when the process ends. On a file system without
/// such locks only the comparison of transaction numbers protects the files, see
/// ``Environment/beginRead()``.
///
/// Close the pair only after LMDB has closed the environment, because closing any descriptor of the
/// lock file releases LMDB's locks on it.
final class FilePair: @unchecked Sendable {
  // Read-only after `init`, except for `close()`, which runs once when no transaction is left.
  let data: StoreFile.Identity
  let lock: StoreFile.Identity
  private let path: String
  private let dataName: String
  private let directory: Int32
  private var descriptors: [Int32]

  /// Opens both files and ties them.
  ///
  /// Returns `nil` if a file cannot be opened. LMDB then reports the reason when it opens the file.
  static func open(
    _ path: String, _ access: EnvironmentOptions.Access
  ) throws(LMDBError) -> FilePair? {
    // When a file of an overlay's lower layer is opened for writing, it is copied and becomes
    // another file. The mode is therefore the one in which LMDB will open it.
    let mode = access == .readOnly ? O_RDONLY : O_RDWR
    let data = openFile(path, mode)
    guard data >= 0 else {
      try checkResources(path)
      return nil
    }
    // Only the stamp is written to the lock file. A process that may not write the file opens it
    // for reading, and writes no stamp.
    let writable = openFile(path + "-lock", O_RDWR)
    let lock = writable >= 0 ? writable : openFile(path + "-lock", O_RDONLY)
    if lock < 0 {
      defer { Self.close([data]) }
      try checkResources(path)
      return nil
    }
    guard let dataIdentity = StoreFile.identity(of: data),
      let lockIdentity = StoreFile.identity(of: lock)
    else {
      Self.close([data, lock])
      return nil
    }
    guard isLockFile(lock) else {
      Self.close([data, lock])
      throw LMDBError(
        .unsuitablePath(
          "no lock file, and opening the store beside it would write over it; move it away"),
        operation: "open", path: path + "-lock")
    }
    let pair = FilePair(path, [data, lock], dataIdentity, lockIdentity)
    guard isOnlyHolderInTime(of: byte(for: lockIdentity), in: data) else {
      throw LMDBError(.mismatched(.otherLockFile), operation: "open", path: path)
    }
    guard isOnlyHolderInTime(of: byte(for: dataIdentity), in: lock) else {
      throw LMDBError(.mismatched(.otherDataFile), operation: "open", path: path)
    }
    return pair
  }

  /// Whether a file is a lock file that LMDB may overwrite.
  ///
  /// LMDB overwrites any file at the lock file's path.
  ///
  /// A lock file begins with LMDB's magic number. The file may begin with zeros before its first
  /// use, and after a power cut that lost its first bytes. A data file begins with zeros too, and
  /// has the number after the header of its first page.
  private static func isLockFile(_ file: Int32) -> Bool {
    var start = [UInt8](repeating: 0, count: 64)
    let count = pread(file, &start, start.count, 0)
    // LMDB reports a file that cannot be read.
    guard count > 0 else { return true }
    let magic = withUnsafeBytes(of: MetaPageLayout.magicNumber) { Array($0) }
    if start.prefix(min(count, 4)).elementsEqual(magic.prefix(count)) { return true }
    let places = [MetaPageLayout.magicOf32Bits] + PageFormat.all.map(\.meta.magic)
    return start.prefix(4).allSatisfy { $0 == 0 }
      && !places.contains { start[$0..<($0 + 4)].elementsEqual(magic) }
  }

  /// Throws if `errno` shows that a file could not be opened for lack of resources and not because
  /// of the file.
  private static func checkResources(_ path: String) throws(LMDBError) {
    let code = errno
    guard code == EMFILE || code == ENFILE || code == ENOMEM || code == EINTR else { return }
    throw LMDBError(code: code, operation: "open", path: path)
  }

  private init(
    _ path: String, _ descriptors: [Int32], _ data: StoreFile.Identity, _ lock: StoreFile.Identity
  ) {
    self.path = path
    self.descriptors = descriptors
    self.data = data
    self.lock = lock
    let name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) }
    dataName = name.map { String(path[$0...]) } ?? path
    // The directory is opened, because the path may be relative, and the directory with both files
    // may be renamed.
    #if canImport(Darwin)
      let kind = O_RDONLY
    #else
      let kind: Int32 = 0o10_000_000  // O_PATH: needs no right to list the directory.
    #endif
    directory = Self.openFile(Folder.path(of: path), kind | O_DIRECTORY, follows: true)
  }

  deinit { close() }

  /// The descriptor of the data file, valid only while open.
  var dataDescriptor: Int32 { descriptors.first ?? -1 }
  var lockDescriptor: Int32 { descriptors.last ?? -1 }

  /// Releases the locks and closes the files.
  ///
  /// Descriptors that a child has between its fork and the start of its program share the locks.
  /// Without the explicit release, the file would count as open with this lock file until then.
  func close() {
    for descriptor in descriptors { ByteLock.set(F_UNLCK, of: descriptor, in: Self.bytes) }
    Self.close(descriptors + (descriptors.isEmpty ? [] : [directory]))
    descriptors = []
  }

  private static func close(_ descriptors: [Int32]) {
    for descriptor in descriptors where descriptor >= 0 { closeFile(descriptor) }
  }

  private static func openFile(_ path: String, _ flags: Int32, follows: Bool = false) -> Int32 {
    let flags = flags | O_CLOEXEC | O_NONBLOCK | (follows ? 0 : O_NOFOLLOW)
    #if canImport(Glibc)
      return Glibc.open(path, flags)
    #elseif canImport(Musl)
      return Musl.open(path, flags)
    #else
      return Darwin.open(path, flags)
    #endif
  }

  /// Whether the lock file is shorter than any lock file that LMDB creates.
  var isLockFileCut: Bool {
    stat(of: lockDescriptor).map { $0.st_size < LockFileLayout.size(readerCount: 0) } ?? false
  }

  // MARK: Checks of an open pair

  /// Throws if the paths no longer lead to the open files.
  ///
  /// A commit would go into a file that nobody else can open, or would run at the same time as the
  /// writer of another lock file. Two system calls take about a microsecond together.
  func checkNames(_ operation: String) throws(LMDBError) {
    guard size(of: dataName, ifItIs: data) != nil else {
      throw LMDBError(.mismatched(.dataFileReplaced), operation: operation, path: path)
    }
    guard let lockSize = size(of: dataName + "-lock", ifItIs: lock) else {
      throw LMDBError(.mismatched(.lockFileReplaced), operation: operation, path: path)
    }
    // A write would touch the map beyond the end of the file, which ends the process.
    guard lockSize >= LockFileLayout.size(readerCount: 0) else {
      throw LMDBError(.mismatched(.lockFileCut), operation: operation, path: path)
    }
  }

  /// The size of the file at `name`, if its identity is `identity`.
  ///
  /// Returns `nil` if there is no file or another file. Returns `.max` if the status cannot be read
  /// for another reason. In that case no fault is assumed.
  private func size(of name: String, ifItIs identity: StoreFile.Identity) -> Int? {
    guard directory >= 0 else { return .max }
    var status = stat()
    guard fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      return errno == ENOENT ? nil : .max
    }
    return StoreFile.Identity(status) == identity ? Int(status.st_size) : nil
  }

  // MARK: The locks

  /// The first byte used.
  ///
  /// The range is beyond any process id: LMDB locks the byte of that number in the lock file.
  private static let firstByte: UInt64 = 1 << 40
  private static let bytes = firstByte..<2 * firstByte

  private static func byte(for identity: StoreFile.Identity) -> UInt64 {
    let mixed = (identity.inode &+ identity.device &* 0x9E37_79B9_7F4A_7C15) & (firstByte - 1)
    return firstByte + mixed
  }

  /// Locks `byte` of `file`; returns false if another process holds a lock on another byte of the
  /// range.
  ///
  /// The lock is taken before the check, so that of two processes that open at once at least one
  /// sees the other.
  private static func isOnlyHolder(of byte: UInt64, in file: Int32) -> Bool {
    guard ByteLock.set(F_RDLCK, of: file, in: byte..<byte + 1) else { return true }
    return [firstByte..<byte, byte + 1..<2 * firstByte].allSatisfy {
      if case .other = ByteLock.holder(of: file, in: $0) { false } else { true }
    }
  }

  /// Calls ``isOnlyHolder(of:in:)`` repeatedly for a short time.
  ///
  /// A program being started briefly shares the locks of its parent, even on files that it closes
  /// at once. If the parent is killed meanwhile, nobody releases these locks before that.
  private static func isOnlyHolderInTime(of byte: UInt64, in file: Int32) -> Bool {
    for _ in 0..<10 {
      if isOnlyHolder(of: byte, in: file) { return true }
      usleep(5_000)
    }
    return isOnlyHolder(of: byte, in: file)
  }

  /// Whether no other process has the two files open as a pair.
  var isHeldHereAlone: Bool {
    let byte = Self.byte(for: lock)
    return ByteLock.holder(of: dataDescriptor, in: byte..<byte + 1) == .nobody
  }

  /// Whether any process, including this one, has the file at `path` open with a lock file.
  static func isInUse(_ path: String) -> Bool {
    let file = openFile(path, O_RDONLY)
    guard file >= 0 else { return false }
    defer { close([file]) }
    for attempt in 0..<10 {
      guard case .other = ByteLock.holder(of: file, in: bytes) else { return false }
      // A program that is being started may hold the lock briefly, as in
      // ``isOnlyHolderInTime(of:in:)``.
      if attempt < 9 { usleep(5_000) }
    }
    return true
  }
}

private func closeFile(_ descriptor: Int32) { close(descriptor) }

/// Whether a process has the store at `path` open.
///
/// A process that reads without a lock file is not noticed.
package func isStoreInUse(_ path: String) -> Bool { FilePair.isInUse(path) }
