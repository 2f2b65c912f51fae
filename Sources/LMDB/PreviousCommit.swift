import LodestoreBytes
import LodestoreSystem

/// A copy of a file in its state before the newest commit.
///
/// A commit overwrites the older of the two meta pages and preserves the pages of the commit before
/// it until the next commit. The file thus contains both commits, and in a copy the newest one's
/// meta page can be replaced.
enum PreviousCommit {
  /// An open file without a name.
  struct Copy {
    let descriptor: Int32

    func close() { closeFile(descriptor) }
  }

  /// Copies the file at `path` into a file without a name.
  ///
  /// The caller must close the copy.
  ///
  /// The copy is in the same directory or, if that is not writable, in the directory for temporary
  /// files. If the file system supports it, both files share their pages until a page is written.
  ///
  /// - Throws: ``LMDBError/Kind/noPreviousCommit(_:)`` if the file has only one commit, or if other
  ///   processes commit faster than the file can be copied.
  static func copy(_ path: String) throws(LMDBError) -> Copy {
    let source = try StoreFile.openForReading(path)
    defer { close(source) }
    return Copy(descriptor: try PreviousCommitCopying(path: path, source: source).run())
  }
}

/// Calls the system's `close`, which has another meaning in the scope below.
private func closeFile(_ descriptor: Int32) { close(descriptor) }

private struct PreviousCommitCopying {
  let path: String
  let source: Int32

  /// The file's format.
  ///
  /// If no meta page states a format, the engine's format is assumed.
  private let format: PageFormat

  init(path: String, source: Int32) {
    self.path = path
    self.source = source
    format = MetaPages(file: source, path: path).format ?? .ofEngine
  }

  private struct Meta {
    var page: [UInt8]
    var transaction: UInt64
    /// The number of the meta page, 0 or 1.
    var number: Int
  }

  func run() throws(LMDBError) -> Int32 {
    for _ in 0..<3 {
      let metas = try metaPages()
      // A meta page that cannot be read is assumed to be the newest meta page.
      guard let previous = metas.last, previous.transaction > 0 else {
        throw error(.noPreviousCommit("it has one commit only"))
      }
      let copy = try makeFile()
      do throws(LMDBError) {
        try copyPages(to: copy)
        try write(previous, to: copy)
      } catch {
        close(copy)
        throw error
      }
      if try metaPages().first?.transaction == metas.first?.transaction { return copy }
      close(copy)
    }
    throw error(.noPreviousCommit("another process commits faster than it can be copied"))
  }

  // MARK: Meta pages

  /// The readable meta pages, newest first.
  private func metaPages() throws(LMDBError) -> [Meta] {
    var size = PageLayout.smallestPage
    while size <= format.largestPage {
      let metas = [0, 1].compactMap { meta($0, pageSize: size) }
      if !metas.isEmpty { return metas.sorted { $0.transaction > $1.transaction } }
      size *= 2
    }
    throw error(
      .notAnEnvironment(
        "neither of its two meta pages can be read: it is no LMDB file, or both are damaged"))
  }

  private func meta(_ number: Int, pageSize: Int) -> Meta? {
    var page = [UInt8](repeating: 0, count: pageSize)
    let count = page._withMutableBytes {
      pread(source, $0.baseAddress, pageSize, off_t(number * pageSize))
    }
    guard count == pageSize else { return nil }
    let facts = page._withBytes { MetaPage($0, format) }
    guard facts.magic == MetaPageLayout.magicNumber, facts.version == format.dataVersion,
      facts.pageSize == pageSize
    else { return nil }
    return Meta(page: page, transaction: facts.transaction, number: number)
  }

  /// Makes `meta` the newest meta page of `file`, and writes a copy with an older number as the
  /// other meta page.
  private func write(_ meta: Meta, to file: Int32) throws(LMDBError) {
    var older = meta.page
    older._withMutableBytes { bytes in
      bytes.storeBytes(
        of: UInt64(1 - meta.number), toByteOffset: PageLayout.number, as: UInt64.self)
      bytes.storeBytes(
        of: meta.transaction - 1, toByteOffset: format.meta.transaction, as: UInt64.self)
    }
    try write(meta.page[...], to: file, at: meta.number * meta.page.count)
    try write(older[...], to: file, at: (1 - meta.number) * meta.page.count)
  }

  // MARK: Copying

  private func makeFile() throws(LMDBError) -> Int32 {
    let directories = [Folder.path(of: path), StoreFile.temporaryDirectory]
    for directory in directories {
      let file = TemporaryFile.openUnnamed(in: directory)
      if file >= 0 { return file }
      guard [EACCES, EROFS, EPERM].contains(errno) else { break }
    }
    throw LMDBError(code: errno, operation: "copy", path: path)
  }

  private func copyPages(to file: Int32) throws(LMDBError) {
    #if os(Linux)
      // FICLONE: btrfs, XFS and others can share the pages.
      if ioctl(file, 0x4004_9409, source) == 0 { return }
    #endif
    var block = [UInt8](repeating: 0, count: 1 << 20)
    var offset = 0
    while true {
      let count = block._withMutableBytes { $0.fill(from: source, at: offset) }
      guard count >= 0 else { throw LMDBError(code: errno, operation: "read", path: path) }
      if count == 0 { return }
      try write(block.prefix(count), to: file, at: offset)
      offset += count
    }
  }

  private func write(_ bytes: ArraySlice<UInt8>, to file: Int32, at offset: Int) throws(LMDBError) {
    let code = bytes._withBytes { $0.writeAll(to: file, at: offset) }
    guard code == 0 else {
      throw StoreFile.failedWrite(code, to: file, operation: "copy", path: path)
    }
  }

  private func error(_ kind: LMDBError.Kind) -> LMDBError {
    LMDBError(kind, operation: "open the previous commit of", path: path)
  }
}
