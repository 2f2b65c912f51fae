internal import LodestoreBytes
internal import LodestoreFormat
internal import LodestorePages

/// The pages of a file, without trusting any of its content.
///
/// No bytes make it trap. Nobody may write the file meanwhile.
final class DamagedFile {
  private let file: PageFile
  let format: PageFormat
  let pageSize: Int
  /// The number of whole pages of the file.
  let pageCount: Int
  /// The readable meta pages, each with the commit that it states.
  let metas: [MetaPage]

  /// - Throws: ``VerificationError`` for a file without any part of an LMDB file.
  init(path: String) throws(VerificationError) {
    file = try PageFile(path: path)
    let size = try file.sizeInBytes()
    guard let (format, pageSize) = try Self.shape(of: file, size) else {
      throw .notAStore(
        "neither of its first two pages is a meta page of LMDB's data version 1 or 3, and its pages "
          + "have no numbers")
    }
    self.format = format
    self.pageSize = pageSize
    pageCount = size / pageSize
    var metas: [MetaPage] = []
    for number in 0..<2 {
      if let meta = try Self.meta(file, format, at: number * pageSize), meta.pageSize == pageSize,
        meta.transaction < 1 << 56,
        meta.transaction & 1 == UInt64(number) || meta.transaction == 0
      {
        metas.append(meta)
      }
    }
    self.metas = metas.sorted { $0.transaction > $1.transaction }
  }

  /// The format and the size of the pages, as a meta page states them or as the numbers of pages
  /// show them.
  private static func shape(
    of file: PageFile, _ size: Int
  ) throws(VerificationError) -> (PageFormat, Int)? {
    let sizes = (9...16).map { 1 << $0 }
    for offset in [0] + sizes {
      for format in PageFormat.all {
        if let meta = try meta(file, format, at: offset), sizes.contains(meta.pageSize),
          offset == 0 || offset == meta.pageSize
        {
          return (format, meta.pageSize)
        }
      }
    }
    var best: (format: PageFormat, size: Int, hits: Int)?
    for format in PageFormat.all {
      for pageSize in sizes where pageSize <= format.largestPage {
        var hits = 0
        for page in 2..<max(2, min(size / pageSize, 258)) {
          let bytes = try read(file, at: page * pageSize, count: format.headerSize)
          let isKind = bytes._withBytes {
            $0.count == format.headerSize && $0.uint64(at: PageLayout.number) == UInt64(page)
              && [PageFlag.branch, PageFlag.leaf, PageFlag.overflow].contains(
                $0.uint16(at: format.flags))
          }
          if isKind { hits += 1 }
        }
        if hits > best?.hits ?? 1 { best = (format, pageSize, hits) }
      }
    }
    return best.map { ($0.format, $0.size) }
  }

  private static func read(
    _ file: PageFile, at offset: Int, count: Int
  ) throws(VerificationError) -> [UInt8] {
    let buffer = MutableByteView.allocate(byteCount: count, alignment: 16)
    defer { buffer.deallocate() }
    return Array(buffer.prefix(try file.read(into: buffer, at: offset)))
  }

  private static func meta(
    _ file: PageFile, _ format: PageFormat, at offset: Int
  ) throws(VerificationError) -> MetaPage? {
    let bytes = try read(file, at: offset, count: format.meta.size)
    guard bytes.count == format.meta.size else { return nil }
    let meta = bytes._withBytes { MetaPage($0, format) }
    guard meta.magic == MetaPageLayout.magicNumber, meta.version == format.dataVersion else {
      return nil
    }
    return meta
  }

  // MARK: Pages

  /// The bytes of one page, valid as long as the object.
  final class Page {
    let number: Int
    let bytes: ByteView

    fileprivate init(_ number: Int, _ bytes: MutableByteView) {
      self.number = number
      self.bytes = ByteView(bytes)
    }

    deinit { bytes.deallocate() }
  }

  /// The page `number`; `nil` if the file does not have it.
  func page(_ number: UInt64) throws(VerificationError) -> Page? {
    guard number >= PageLayout.firstDataPage, number < UInt64(pageCount) else { return nil }
    let buffer = MutableByteView.allocate(byteCount: pageSize, alignment: 16)
    let page = Page(Int(number), buffer)
    return try file.read(into: buffer, at: Int(number) * pageSize) == pageSize ? page : nil
  }

  /// Whether a page states its own number.
  func isInPlace(_ page: Page) -> Bool {
    page.bytes.uint64(at: PageLayout.number) == UInt64(page.number)
  }

  func flags(_ page: Page) -> UInt16 { page.bytes.uint16(at: format.flags) }

  /// The commit that wrote a page; 0 if the format does not record it.
  func commit(_ page: Page) -> UInt64 { format.transaction.map { page.bytes.uint64(at: $0) } ?? 0 }

  // MARK: Nodes

  /// The nodes that fit their page, and whether they fill the page as LMDB's nodes do.
  ///
  /// LMDB leaves no space between nodes. If slots are damaged, the nodes are therefore found one
  /// after the other from the first. Deleted nodes are never found.
  func nodes(of page: Page, isLeaf: Bool) -> (nodes: [PageNode], isWhole: Bool) {
    let bytes = page.bytes
    let lower = format.origin + Int(bytes.uint16(at: format.lower))
    let upper = format.origin + Int(bytes.uint16(at: format.upper))
    var bySlots: [PageNode] = []
    var isWhole = true
    if lower >= format.headerSize, lower <= pageSize {
      for slot in stride(from: format.headerSize, to: lower - 1, by: PageLayout.slotSize) {
        if let node = node(at: format.origin + Int(bytes.uint16(at: slot)), bytes, isLeaf) {
          bySlots.append(node)
        } else {
          isWhole = false
        }
      }
    }
    if isWhole, !bySlots.isEmpty, fills(bySlots, from: upper) { return (bySlots, true) }
    var inRow: [PageNode] = []
    var next = upper
    while next < pageSize, next >= format.headerSize, let node = node(at: next, bytes, isLeaf) {
      inRow.append(node)
      next = node.end
    }
    let isRow = next == pageSize && !inRow.isEmpty
    if isRow, format.headerSize + PageLayout.slotSize * inRow.count <= upper {
      return (sorted(inRow, in: page), true)
    }
    // Overlapping nodes cannot all be right. The checksums of their values show later which ones
    // are.
    var known: Set<Int> = []
    return ((bySlots + inRow).filter { known.insert($0.offset).inserted }, false)
  }

  /// The nodes in the order of the slots that refer to them.
  private func sorted(_ nodes: [PageNode], in page: Page) -> [PageNode] {
    var places: [Int: Int] = [:]
    for index in nodes.indices {
      let slot = format.slot(index)
      guard slot + PageLayout.slotSize <= pageSize else { break }
      places[format.origin + Int(page.bytes.uint16(at: slot))] = index
    }
    return nodes.sorted { places[$0.offset] ?? Int.max < places[$1.offset] ?? Int.max }
  }

  private func fills(_ nodes: [PageNode], from upper: Int) -> Bool {
    var next = upper
    for node in nodes.sorted(by: { $0.offset < $1.offset }) {
      guard node.offset == next else { return false }
      next = node.end
    }
    return next == pageSize
  }

  private func node(at offset: Int, _ page: ByteView, _ isLeaf: Bool) -> PageNode? {
    guard offset >= format.headerSize, offset & 1 == 0,
      offset + PageLayout.nodeHeaderSize <= pageSize
    else { return nil }
    return PageNode(at: offset, in: page, isLeaf: isLeaf, pageSize: pageSize, format)
  }

  // MARK: Values

  /// A pair of a leaf.
  struct Pair {
    let key: ByteView
    let body: ByteView
    let flags: UInt16
    /// The pages that contain the bytes, retained here.
    fileprivate let owners: [AnyObject]
  }

  private final class Run {
    let bytes: MutableByteView
    init(_ count: Int) { bytes = .allocate(byteCount: count, alignment: 16) }
    deinit { bytes.deallocate() }
  }

  /// The pair of a node; `nil` if its value is in pages that are not overflow pages.
  func pair(_ node: PageNode, in page: Page) throws(VerificationError) -> Pair? {
    let key = page.bytes[node.keyRange]
    guard node.flags & NodeFlag.isLarge != 0 else {
      let end = node.valueStart + node.dataSize
      guard end <= pageSize else { return nil }
      let body = page.bytes[node.valueStart..<end]
      return Pair(key: key, body: body, flags: node.flags, owners: [page])
    }
    guard let pages = try run(of: node, in: page), pages.count <= spare else { return nil }
    spare -= pages.count
    let run = Run(format.headerSize + node.dataSize)
    guard try file.read(into: run.bytes, at: pages.lowerBound * pageSize) == run.bytes.count else {
      return nil
    }
    let body = ByteView(run.bytes)[format.headerSize...]
    return Pair(key: key, body: body, flags: node.flags, owners: [page, run])
  }

  /// The overflow pages of a value; `nil` if the first one is not an overflow page.
  func run(of node: PageNode, in page: Page) throws(VerificationError) -> Range<Int>? {
    guard node.flags & NodeFlag.isLarge != 0, let pages = runPages(of: node, in: page) else {
      return nil
    }
    let start = try Self.read(file, at: pages.lowerBound * pageSize, count: format.headerSize)
    let isRun =
      start.count == format.headerSize
      && start._withBytes { $0.uint64(at: PageLayout.number) == UInt64(pages.lowerBound) }
    return isRun ? pages : nil
  }

  /// The pairs of a leaf, each read on request, because a leaf may refer to any number of long
  /// values.
  struct Pairs: RandomAccessCollection {
    let file: DamagedFile
    let page: Page
    let nodes: [PageNode]

    var startIndex: Int { 0 }
    var endIndex: Int { nodes.count }
    /// The pair at a position; `nil` if it cannot be read, also because of a disk error.
    subscript(position: Int) -> Pair? { (try? file.pair(nodes[position], in: page)) ?? nil }
  }

  /// The number of overflow pages that may still be read until the next ``beginReading()``.
  ///
  /// Without a bound, a file could name one long value in each of its nodes, and reading it would
  /// take hours.
  private var spare = 0

  /// Renews the limit for the overflow pages that are read: eight times the number of the file's
  /// pages.
  ///
  /// Call it before reading all leaves in a row.
  ///
  /// Each leaf may be read a few times.
  func beginReading() { spare = 8 * pageCount }

  private func runPages(of node: PageNode, in page: Page) -> Range<Int>? {
    let first = page.bytes.uint64(at: node.valueStart)
    let count = format.overflowPages(of: node.dataSize, pageSize: pageSize)
    guard first >= PageLayout.firstDataPage, first < UInt64(pageCount),
      count <= pageCount - Int(first)
    else { return nil }
    return Int(first)..<Int(first) + count
  }
}
