import LodestoreSystem

/// LMDB follows the numbers in the pages of a file wherever they lead, in reads and, worse, in writes. So
/// a file that does not come from the processes of this machine is read through before it is used.
extension Environment {
  /// Checks the pages of the file where the options ask for it; returns whether they are known to be good.
  ///
  /// Called with `files` tied, so that the file that is checked is the one that is opened.
  static func checkPages(
    _ path: String, _ options: EnvironmentOptions, isAsLeft: Bool, _ files: FilePair?,
    _ onCheck: (Int, Int) -> Bool
  ) throws(LMDBError) -> Bool {
    guard options.trust != .always, options.checkPages != nil else { return false }
    if isAsLeft { return true }
    guard options.trust == .verifyFirst else { return false }
    try checkPagesNow(path, options, files, onCheck)
    return true
  }

  private static func checkPagesNow(
    _ path: String, _ options: EnvironmentOptions, _ files: FilePair?,
    _ onCheck: (Int, Int) -> Bool
  ) throws(LMDBError) {
    guard let check = options.checkPages else { return }
    if let files { return try check(files.dataDescriptor, path, onCheck) }
    let file = try StoreFile.openForReading(path)
    defer { close(file) }
    try check(file, path, onCheck)
  }

  /// Before the first write to a file that is not known to be good.
  func checkBeforeWrite() throws(LMDBError) {
    guard options.trust != .always, options.checkPages != nil else { return }
    try Self.checkPagesNow(path, options, files) { _, _ in true }
    isTrusted.store(true, ordering: .relaxed)
    files?.stampInUse()
  }

  /// Leaves word of how the file was left, before the two files are let go.
  func stampClosed() {
    guard let files, options.isNamed, isTrusted.load(ordering: .relaxed) else { return }
    // What the disk has after a failed sync is not known.
    if poison.load(ordering: .relaxed) { files.eraseStamp() } else { files.stampClosed() }
  }
}
