internal import LodestorePages
import LodestoreSystem

/// Sealed files, which any number of processes can read without a lock file.
extension Environment {
  /// Opens a sealed file, always read-only.
  ///
  /// The environment holds a shared `flock` on the file while it is open. A program that removes
  /// old generations of a dataset first requests the exclusive lock, so it removes no generation in
  /// use.
  ///
  /// - Returns: `nil` if the path now leads to another file.
  static func openSealed(
    _ path: String, _ options: EnvironmentOptions, _ identity: StoreFile.Identity,
    _ onCheck: (Int, Int) -> Bool
  ) throws(LMDBError) -> Environment? {
    var options = options
    options.access = .readOnly
    try checkMachine(path)
    let file = try pageFile(path)
    share(file.descriptor, forSeconds: options.growthWaitInSeconds)
    guard let status = stat(of: file.descriptor) else {
      throw LMDBError(code: errno, operation: "open", path: path)
    }
    guard status.st_nlink > 0, StoreFile.Identity(status) == identity else { return nil }
    try checkPages(of: file.descriptor, path, options, onCheck)
    return Environment(try PageEngine(file, path: path, isSealed: true), identity, options)
  }

  /// Takes the shared lock of a file, and waits for a process that holds the exclusive one.
  ///
  /// If the file system has no such locks, or if the wait times out, the file is used without a
  /// lock. Only the removal of old generations depends on it.
  private static func share(_ file: Int32, forSeconds seconds: Double) {
    let deadline = monotonicSeconds() + seconds
    while flock(file, LOCK_SH | LOCK_NB) != 0 {
      guard errno == EINTR || errno == EWOULDBLOCK, monotonicSeconds() < deadline else { return }
      usleep(1_000)
    }
  }

  private static func checkPages(
    of file: Int32, _ path: String, _ options: EnvironmentOptions, _ onCheck: (Int, Int) -> Bool
  ) throws(LMDBError) {
    guard options.trust == .verifyFirst, let check = options.checkPages else { return }
    let checked = CheckedFiles(directory: options.checkedFilesDirectory)
    let mark = CheckedFiles.mark(of: file)
    if let mark, checked.contains(mark) { return }
    try check(file, path, onCheck)
    // A file that changed meanwhile has another mark.
    if let mark, mark == CheckedFiles.mark(of: file), CheckedFiles.isOnDisk(file) {
      checked.add(mark)
    }
  }
}

extension PageEngine {
  /// Releases the lock of a sealed file; see ``Environment/openSealed(_:_:_:_:)``.
  func unlock() {
    if isSealed { flock(file.descriptor, LOCK_UN) }
  }
}
