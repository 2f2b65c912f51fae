import LodestoreSystem

/// LMDB follows the numbers in a file's pages without checking them, in reads and in writes, where
/// the damage is worse. A file that does not come from processes of this machine is therefore
/// checked before use.
extension Environment {
  /// Checks the pages of the file if the options ask for it, and returns whether they are known to
  /// be good.
  ///
  /// The caller must have tied `files`, so that the checked file is the opened file.
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

  /// Checks a file that is not known to be good before its first write.
  func checkBeforeWrite() throws(LMDBError) {
    guard options.trust != .always, options.checkPages != nil else { return }
    try Self.checkPagesNow(path, options, files) { _, _ in true }
    isTrusted.store(true, ordering: .relaxed)
    files?.stampInUse()
  }

  /// Records that the file was closed cleanly, before its two files are released.
  func stampClosed() {
    guard let files, options.isNamed, isTrusted.load(ordering: .relaxed) else { return }
    // After a failed sync the content of the disk is unknown.
    if poison.load(ordering: .relaxed) { files.eraseStamp() } else { files.stampClosed() }
  }
}
