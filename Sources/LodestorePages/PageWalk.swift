import LodestoreBytes
internal import LodestoreFormat

/// One pass over the trees of an LMDB file and over its free list.
///
/// LMDB relies on each of the checked rules without checking it. Pages below a damaged page are not
/// visited.
final class PageWalk {
  /// The maximum number of free pages beyond the end of the file.
  static let mostUnwritten = 1 << 20
  /// The number of findings that ends a walk.
  ///
  /// Nobody reads more findings, and each finding takes time and memory.
  static let mostFindings = 100_000

  let file: PageFile
  let format: PageFormat
  let meta: MetaPage
  let pageSize: Int
  /// The number of whole pages in the file.
  let filePages: Int
  let bound: Int
  var findings: FindingList
  private var live: PageSet
  private var free: PageSet
  private var buffers: [MutableByteView] = []
  /// The ends of the nodes of one page by half their offsets, and 0 between pages.
  var nodeEnds: [Int32]
  private(set) var freeCount = 0
  /// Whether unused bytes must be zero; see ``checkSeal(_:fileSize:)``.
  var isOfSealedFile = false
  /// The named trees, ordered by name.
  private var named: [(name: String, record: TreeRecord)] = []

  /// Whether the walk ended before the last page.
  ///
  /// Pages that the walk did not reach are not reported as unused.
  var isGivenUp: Bool { findings.count >= Self.mostFindings }

  private let step: (_ done: Int, _ total: Int) -> Bool
  private var visited = 0

  init(
    file: PageFile, format: PageFormat, meta: MetaPage, pageSize: Int, filePages: Int,
    findings: FindingList,
    step: @escaping (_ done: Int, _ total: Int) -> Bool
  ) {
    self.step = step
    self.file = file
    self.format = format
    self.meta = meta
    self.pageSize = pageSize
    self.filePages = filePages
    self.findings = findings
    bound = Int(meta.lastPage) + 1
    live = PageSet(bound: bound)
    free = PageSet(bound: bound)
    nodeEnds = Array(repeating: 0, count: pageSize >> 1)
  }

  deinit { for buffer in buffers { buffer.deallocate() } }

  func run(_ report: inout PageReport) throws(VerificationError) {
    for page in 0..<min(2, bound) { _ = live.insert(page) }
    report.freeList = try walk(meta.freeList, name: report.freeList.name, role: .freeList)
    report.names = try walk(meta.main, name: report.names.name, role: .names)
    for (name, record) in named where !isGivenUp {
      let hasKnownFlags = record.flags & ~TreeRecordLayout.integerKeys == 0
      if !hasKnownFlags {
        findings.add(.treeFlags, tree: name, "has flags \(record.flags), must be 0 or 8")
      }
      checkFlags(of: name, record)
      report.trees.append(try walk(record, name: name, role: .data))
    }
    report.freePageCount = freeCount
    if !isGivenUp { checkAccounts() }
  }

  /// Checks the flags that Format.md, "Trees", prescribes for the names it lists.
  private func checkFlags(of name: String, _ record: TreeRecord) {
    guard let tree = TreeName(name) else { return }
    let isRecords = if case .records = tree { true } else { false }
    let expected = isRecords ? TreeRecordLayout.integerKeys : 0
    guard record.flags != expected, record.flags & ~TreeRecordLayout.integerKeys == 0 else {
      return
    }
    findings.add(.treeFlags, tree: name, "has flags \(record.flags), must be \(expected)")
  }

  /// Checks that every page up to the last is either in a tree or free, and not both.
  private func checkAccounts() {
    var missing = 0
    var first: Int?
    for page in 0..<bound where !live.contains(page) && !free.contains(page) {
      missing += 1
      if first == nil { first = page }
    }
    if let first {
      findings.add(
        .pageUnaccounted,
        "\(missing) pages, \(first) the first of them, are in no tree and not free")
    }
  }

  // MARK: Pages

  /// Marks `page` as part of `tree`.
  ///
  /// If the page cannot be part of a tree, adds a finding and returns false.
  func claim(_ page: UInt64, of tree: String) -> Bool {
    guard page >= PageLayout.firstDataPage, page < UInt64(bound) else {
      findings.add(.page, tree: tree, "page \(page) is named, pages are 2 to \(bound - 1)")
      return false
    }
    guard page < UInt64(filePages) else {
      findings.add(.truncated, tree: tree, "page \(page) is used, the file ends at \(filePages)")
      return false
    }
    guard live.insert(Int(page)) else {
      findings.add(.shared(page, of: tree))
      return false
    }
    if free.contains(Int(page)) {
      findings.add(.freeList, tree: tree, "page \(page) is used and in the free list")
    }
    return true
  }

  /// Whether `page`, which must be below the bound, already belongs to a tree.
  func isClaimed(_ page: Int) -> Bool { live.contains(page) }

  /// Marks `page` as free.
  func release(_ page: UInt64) {
    guard page >= PageLayout.firstDataPage, page < UInt64(bound) else {
      findings.add(.freeList, "page \(page) is listed, pages are 2 to \(bound - 1)")
      return
    }
    guard free.insert(Int(page)) else {
      findings.add(.freeList, "page \(page) is listed twice")
      return
    }
    freeCount += 1
    if live.contains(Int(page)) {
      findings.add(.freeList, "page \(page) is listed and in use")
    }
  }

  /// Counts visited pages, and reports the progress at intervals.
  func advance(by count: Int) throws(VerificationError) {
    let before = visited
    visited += count
    guard visited / Self.pagesBetweenSteps != before / Self.pagesBetweenSteps else { return }
    if !step(min(visited, bound), bound) { throw .cancelled }
  }

  private static let pagesBetweenSteps = 4_096

  /// The bytes of `page`, in the buffer of `level`, valid until the next call for that level; `nil`
  /// if the file does not contain the whole page.
  func bytes(of page: UInt64, level: Int) throws(VerificationError) -> ByteView? {
    try advance(by: 1)
    while buffers.count <= level {
      buffers.append(.allocate(byteCount: pageSize, alignment: 16))
    }
    let count = try file.read(into: buffers[level], at: Int(page) * pageSize)
    return count == pageSize ? ByteView(buffers[level]) : nil
  }

  func noteTree(_ name: String, _ record: TreeRecord) { named.append((name, record)) }
}

extension Finding {
  /// The finding for a page that two branch entries refer to, or that is part of two overflow runs.
  static func shared(_ page: UInt64, of tree: String) -> Finding {
    Finding(.pageShared, tree: tree, "page \(page) is reached a second time")
  }
}
