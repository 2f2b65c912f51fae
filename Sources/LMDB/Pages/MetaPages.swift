import LodestoreBytes
import LodestoreSystem

/// The meta pages and the free list of a file, read without mapping the file.
///
/// These pages are checked before LMDB opens the file. Without the checks, LMDB would map a file
/// that is too short, and would overwrite the lock file of a file that it cannot read. The layout
/// follows the data version in the file, so files of both LMDB versions can be read.
struct MetaPages {
  let file: Int32
  let path: String

  /// The facts of one meta page.
  struct Meta: Equatable {
    var format: PageFormat
    var pageSize: UInt32
    var freeRoot: UInt64
    var lastPage: UInt64
    var transaction: UInt64
    /// Whether the page has the mark of a sealed file.
    var isSealed: Bool
  }

  /// Throws if the file is not an LMDB file, has a format that this process's LMDB cannot read, or
  /// is shorter than its newest commit needs.
  ///
  /// Another process may be writing, so a page that looks wrong is read again.
  ///
  /// - Parameter allowsOtherEngine: Whether a file of the other LMDB is checked too.
  @discardableResult
  func check(allowsOtherEngine: Bool = false) throws(LMDBError) -> Meta {
    var attempts = 0
    while true {
      attempts += 1
      do {
        return try checkOnce(allowsOtherEngine)
      } catch {
        if case .otherEngine = error.kind { throw error }
        guard attempts < 4 else { throw error }
        usleep(2_000)
      }
    }
  }

  /// The format that the file states; `nil` if it is unknown.
  var format: PageFormat? { try? meta(at: 0).format }

  /// The number of the newest commit.
  ///
  /// Another process may be making a newer commit.
  func lastTransaction() throws(LMDBError) -> UInt64 { try newestMeta().transaction }

  private func checkOnce(_ allowsOtherEngine: Bool) throws(LMDBError) -> Meta {
    let newest = try newestMeta()
    guard allowsOtherEngine || newest.format == .ofEngine else {
      throw LMDBError(.otherEngine(newest.format), operation: "open", path: path)
    }
    let pageSize = UInt64(newest.pageSize)
    // The size is read after the pages, because the file only grows, and grows before a commit
    // states it.
    guard let status = stat(of: file) else {
      throw LMDBError(code: errno, operation: "open", path: path)
    }
    let size = UInt64(max(0, status.st_size))
    let (pages, overflows) = newest.lastPage.addingReportingOverflow(1)
    let (needed, isTooMuch) = pages.multipliedReportingOverflow(by: pageSize)
    if !overflows, !isTooMuch, size >= needed { return newest }
    // Pages that a write took and freed count as used, but at the end of the file they may never be
    // written. A sound file may therefore be shorter than its stated number of pages, but only free
    // pages may be missing.
    let present = size / pageSize
    if !overflows, pages - present <= 1 << 20,
      let free = freePages(from: present, newest), UInt64(free.count) == pages - present
    {
      return newest
    }
    throw LMDBError(
      .truncated(size: size, needed: overflows || isTooMuch ? .max : needed), operation: "open",
      path: path)
  }

  private func newestMeta() throws(LMDBError) -> Meta {
    let first = try meta(at: 0)
    let pageSize = first.pageSize
    guard pageSize >= PageLayout.smallestPage, pageSize <= first.format.largestPage,
      pageSize & (pageSize - 1) == 0
    else {
      throw damage(first.format.refusal(ofPageSize: pageSize))
    }
    let second: Meta
    do throws(LMDBError) {
      second = try meta(at: off_t(pageSize))
    } catch {
      guard case .notAnEnvironment = error.kind else { throw error }
      throw damage(
        "its first page says a page size of \(pageSize) bytes, and the page behind it is no second "
          + "meta page of LMDB")
    }
    guard second.format == first.format else {
      let engines = "\(first.format.engine) and \(second.format.engine)"
      throw damage("its two meta pages are of \(engines)")
    }
    guard second.pageSize == pageSize else {
      throw damage("its two meta pages say page sizes of \(pageSize) and \(second.pageSize) bytes")
    }
    var newest = first.transaction >= second.transaction ? first : second
    newest.isSealed = first.isSealed && second.isSealed
    guard newest.transaction < MetaPage.transactionLimit else {
      throw damage(
        "its meta page says transaction number \(newest.transaction), must be below 2^56")
    }
    guard newest.lastPage >= PageLayout.firstDataPage - 1 else {
      throw refusal("its header says that page \(newest.lastPage) is the last")
    }
    return newest
  }

  private func damage(_ what: String) -> LMDBError {
    LMDBError(.damaged(what), operation: "open", path: path)
  }

  private func refusal(_ what: String) -> LMDBError {
    LMDBError(.notAnEnvironment(what), operation: "open", path: path)
  }

  private func meta(at offset: off_t) throws(LMDBError) -> Meta {
    errno = 0
    // The second meta page of a file may end with its last field.
    let page = read(upTo: SealMark.headSize, at: offset)
    let format = page.bytes._withBytes { PageFormat(ofFile: $0) }
    guard page.bytes.count >= (format ?? .lmdb09).meta.size else {
      if errno != 0 { throw LMDBError(code: errno, operation: "open", path: path) }
      throw refusal("it is too short to be an LMDB file")
    }
    guard let format else { throw refusal(ofStart: page) }
    let freeList = format.meta.freeList
    return Meta(
      format: format, pageSize: page.word(freeList + TreeRecordLayout.pageSize),
      freeRoot: page.long(freeList + TreeRecordLayout.root),
      lastPage: page.long(format.meta.lastPage), transaction: page.long(format.meta.transaction),
      isSealed: page.bytes._withBytes { SealMark.isPresent(in: $0) })
  }

  /// The reason why a file that begins with `start` has no known format.
  private func refusal(ofStart start: Page) -> LMDBError {
    let magic = MetaPageLayout.magicNumber
    for format in PageFormat.all where start.word(format.meta.magic) == magic {
      return refusal(
        "its LMDB data version is \(start.word(format.meta.version)), must be "
          + "\(format.dataVersion) as in \(format.engine)")
    }
    if start.word(MetaPageLayout.magicOf32Bits) == magic {
      return refusal("it is an LMDB file of a 32-bit machine")
    }
    if PageFormat.all.contains(where: { start.word($0.meta.magic) == magic.byteSwapped }) {
      return refusal("it is an LMDB file of a machine with the other byte order")
    }
    return refusal("it is not an LMDB file")
  }

  private func read(_ count: Int, at offset: off_t) -> Page? {
    let page = read(upTo: count, at: offset)
    return page.bytes.count == count ? page : nil
  }

  private func read(upTo count: Int, at offset: off_t) -> Page {
    Page(
      bytes: [UInt8](unsafeUninitializedCapacity: count) { bytes, readCount in
        readCount = max(0, pread(file, bytes.baseAddress, count, offset))
      })
  }

  /// A piece of the file.
  ///
  /// Reading outside it returns 0, which every check refuses.
  private struct Page {
    var bytes: [UInt8]

    func word(_ offset: Int) -> UInt32 { load(offset) ?? 0 }
    func long(_ offset: Int) -> UInt64 { load(offset) ?? 0 }
    func half(_ offset: Int) -> Int { Int(load(offset) ?? UInt16(0)) }

    private func load<T: BitwiseCopyable>(_ offset: Int) -> T? {
      guard offset >= 0, offset + MemoryLayout<T>.size <= bytes.count else { return nil }
      return bytes._withBytes { $0.loadUnaligned(fromByteOffset: offset, as: T.self) }
    }
  }

  // MARK: The free list

  /// The free pages from `lowest` up, by the free list of `meta`; `nil` if it cannot be read in a
  /// reasonable number of steps.
  private func freePages(from lowest: UInt64, _ meta: Meta) -> Set<UInt64>? {
    var free: Set<UInt64> = []
    var pages = meta.freeRoot == TreeRecordLayout.noPage ? [] : [(number: meta.freeRoot, depth: 0)]
    var steps = 0
    while let (number, depth) = pages.popLast() {
      steps += 1
      guard steps <= 1 << 16, depth < PageLayout.deepestTree, number < lowest,
        let page = read(Int(meta.pageSize), at: off_t(number * UInt64(meta.pageSize))),
        page.long(PageLayout.number) == number
      else { return nil }
      let format = meta.format
      let flags = UInt16(page.half(format.flags))
      let lower = page.half(format.lower) + format.origin
      let nodeCount = (lower - format.headerSize) / PageLayout.slotSize
      for index in 0..<max(0, nodeCount) {
        let node = page.half(format.slot(index)) + format.origin
        guard node >= format.headerSize, node + PageLayout.nodeHeaderSize <= page.bytes.count
        else { return nil }
        let low = UInt64(page.word(node + PageLayout.nodeValueSize))
        let high = UInt16(page.half(node + PageLayout.nodeFlags))
        if flags & PageFlag.branch != 0 {
          pages.append((low | UInt64(high) << PageLayout.childLowBits, depth + 1))
        } else if flags & PageFlag.leaf != 0 {
          let keyCount = page.half(node + PageLayout.nodeKeySize)
          let data = node + PageLayout.nodeHeaderSize + format.valueOffset(behindKeyOf: keyCount)
          guard
            add(
              Int(low), of: page, at: data, isElsewhere: high & NodeFlag.isLarge != 0,
              meta, lowest: lowest, to: &free)
          else { return nil }
        } else {
          return nil
        }
      }
    }
    return free
  }

  /// Adds one record of the free list: a count, then that many page numbers.
  ///
  /// A long record is in overflow pages, after a page header.
  private func add(
    _ byteCount: Int, of page: Page, at data: Int, isElsewhere: Bool, _ meta: Meta,
    lowest: UInt64, to free: inout Set<UInt64>
  ) -> Bool {
    var record = page
    var start = data
    if isElsewhere {
      let number = page.long(data)
      guard number < lowest, byteCount <= 1 << 28,
        let read = read(
          byteCount + meta.format.headerSize, at: off_t(number * UInt64(meta.pageSize)))
      else { return false }
      record = read
      start = meta.format.headerSize
    }
    let count = record.long(start)
    let word = EngineTree.freeListWord
    guard count <= UInt64(byteCount / word), start + byteCount <= record.bytes.count else {
      return false
    }
    for index in 0..<Int(count) {
      let number = record.long(start + word + word * index)
      if number >= lowest, number <= meta.lastPage { free.insert(number) }
    }
    return true
  }
}
