import LodestoreBytes
internal import LodestorePages
import LodestoreSystem

/// The sealed files whose pages this user has already had checked on this machine.
///
/// The file `checked-pages` in a directory of the user's cache holds a mark of 32 bytes for each
/// file. A mark is the SHA-256 of the file's identity, size and times, its meta pages, and its last
/// pages, where the seal is.
///
/// No program can set the time of a file's last change, so a file that was written, replaced or
/// copied has another mark. Read-only images may give two files equal identities and times, but
/// their seals differ.
///
/// Removing `checked-pages` does no harm: each file is checked once more. If the directory cannot
/// be used, or if others may write to it, files are checked at each opening.
struct CheckedFiles {
  /// The version of the marks.
  ///
  /// Raise it when the check of pages finds more faults than before.
  private static let version = 2
  /// The number of bytes at the end of a file that its mark covers.
  private static let tailSize: Int64 = 65_536
  private static let markSize = SHA256Digest.size
  /// The maximum number of marks.
  ///
  /// When a mark exceeds this number, the older half of the marks is removed.
  private static let mostMarks = 4_096

  /// The directory; `nil` if none can be used.
  private let directory: String?

  /// - Parameter directory: A directory for this purpose alone; `nil` for the directory in the
  ///   user's cache.
  init(directory: String?) { self.directory = directory ?? Self.usersDirectory }

  private static var usersDirectory: String? {
    func variable(_ name: String) -> String? {
      getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
    }
    // A program that runs with another user's rights has the environment of its caller, so its
    // environment variables are not trusted.
    guard getuid() == geteuid() else { return nil }
    #if canImport(Darwin)
      let directory = variable("HOME").map { $0 + "/Library/Caches/lodestore" }
    #else
      let directory =
        variable("XDG_CACHE_HOME").map { $0 + "/lodestore" }
        ?? variable("HOME").map { $0 + "/.cache/lodestore" }
    #endif
    // Under `sudo` the home directory may be the caller's, and a program must not create a
    // directory in the home directory of another user.
    return directory.flatMap { isOwned($0, by: geteuid()) ? $0 : nil }
  }

  /// Whether `owner` owns a directory or, if it does not exist, its nearest existing parent.
  static func isOwned(_ directory: String, by owner: uid_t) -> Bool {
    if let status = stat(at: directory) { return status.st_uid == owner }
    guard errno == ENOENT, directory.count > 1 else { return false }
    return isOwned(Folder.path(of: directory), by: owner)
  }

  // MARK: Marks

  /// The mark of an open file; `nil` if it changed so recently that a further change could have an
  /// equal time.
  static func mark(of file: Int32) -> [UInt8]? {
    var system = statvfs()
    var now = timespec()
    guard let status = stat(of: file), fstatvfs(file, &system) == 0,
      clock_gettime(CLOCK_REALTIME, &now) == 0
    else { return nil }
    let (modified, changed) = (status.st_mtim, status.st_ctim)
    #if canImport(Darwin)
      let granularity = 2.0
    #else
      // Kernels take file times from their last tick, which is at most a hundredth of a second ago.
      let granularity = 0.02
    #endif
    let age = Double(now.tv_sec - changed.tv_sec) + Double(now.tv_nsec - changed.tv_nsec) * 1e-9
    guard age > granularity else { return nil }
    let facts: [UInt64] = [
      UInt64(Self.version), UInt64(truncatingIfNeeded: system.f_fsid),
      UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino),
      UInt64(truncatingIfNeeded: status.st_size),
      UInt64(truncatingIfNeeded: modified.tv_sec), UInt64(truncatingIfNeeded: modified.tv_nsec),
      UInt64(truncatingIfNeeded: changed.tv_sec), UInt64(truncatingIfNeeded: changed.tv_nsec),
    ]
    return mark(facts, file, size: Int64(status.st_size))
  }

  /// The mark of a file whose identity, size and times are `facts`; `nil` if the file cannot be
  /// read.
  static func mark(_ facts: [UInt64], _ file: Int32, size: Int64) -> [UInt8]? {
    var digest = SHA256Digest()
    facts.withUnsafeBytes { digest.update(ByteView($0)) }
    let head = min(size, 8_192)
    for range in [0..<head, max(head, size - tailSize)..<size] {
      let count = Int(range.upperBound - range.lowerBound)
      var isRead = false
      let bytes = [UInt8](unsafeUninitializedCapacity: count) { bytes, filled in
        filled = max(0, pread(file, bytes.baseAddress, count, off_t(range.lowerBound)))
        isRead = filled == count
      }
      guard isRead else { return nil }
      bytes._withBytes { digest.update($0) }
    }
    return digest.finalize()
  }

  /// Syncs a file, and returns whether the checked content will survive a power cut.
  static func isOnDisk(_ file: Int32) -> Bool {
    var system = statvfs()
    let isReadOnly = fstatvfs(file, &system) == 0 && UInt(system.f_flag) & UInt(ST_RDONLY) != 0
    return isReadOnly || fsync(file) == 0
  }

  // MARK: The file of marks

  private var path: String? { directory.map { $0 + "/checked-pages" } }

  func contains(_ mark: [UInt8]) -> Bool { marks.contains(mark) }

  func add(_ mark: [UInt8]) {
    guard let directory, let path else { return }
    let known = marks
    guard !known.contains(mark) else { return }
    Self.makeDirectory(directory)
    if known.count >= Self.mostMarks {
      return Self.replace(path, with: known.suffix(Self.mostMarks / 2) + [mark])
    }
    let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    _ = mark._withBytes { write(file, $0.baseAddress, $0.count) }
  }

  private var marks: [[UInt8]] {
    guard let path else { return [] }
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { return [] }
    defer { close(file) }
    // A file that other users may write proves nothing about the marks in it.
    guard let status = stat(of: file), status.isRegularFile,
      status.st_uid == geteuid(), status.st_mode & 0o022 == 0
    else { return [] }
    let most = 2 * Self.mostMarks * Self.markSize
    let size = max(0, min(Int(status.st_size), most))
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
      count = max(0, read(file, bytes.baseAddress, size))
    }
    let whole = bytes.count / Self.markSize * Self.markSize
    return stride(from: 0, to: whole, by: Self.markSize).map {
      Array(bytes[$0..<$0 + Self.markSize])
    }
  }

  /// Replaces the marks.
  ///
  /// A mark that another process adds meanwhile may be lost, and its file is then checked once
  /// more.
  private static func replace(_ path: String, with marks: some Sequence<[UInt8]>) {
    let temporary = "\(path).\(UInt64.random(in: .min ... .max))"
    let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { return }
    let bytes = Array(marks.joined())
    let count = bytes._withBytes { write(file, $0.baseAddress, $0.count) }
    close(file)
    if count != bytes.count || rename(temporary, path) != 0 { unlink(temporary) }
  }

  private static func makeDirectory(_ directory: String) {
    guard mkdir(directory, 0o700) != 0, errno == ENOENT, directory.count > 1 else { return }
    makeDirectory(Folder.path(of: directory))
    mkdir(directory, 0o700)
  }
}
