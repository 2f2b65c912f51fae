internal import LodestoreBytes
internal import LodestoreFormat
internal import LodestorePages

/// The pages of a file of which nothing is believed.
///
/// No bytes make it trap. Nobody may write the file meanwhile.
final class DamagedFile {
  private let file: PageFile
  let format: PageFormat
  let pageSize: Int
  /// How many whole pages the file has.
  let pageCount: Int
  /// The meta pages that can be read, with the commit that each one says.
  let metas: [MetaPage]

  /// - Throws: ``VerificationError`` for a file that has nothing of an LMDB file.
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
        meta.transaction & 1 == UInt64(number)
          || meta.transaction == 0
      {
        metas.append(meta)
      }
    }
    self.metas = metas.sorted { $0.transaction > $1.transaction }
  }

  /// The layout and the size of the pages: as a meta page says, or as the numbers of pages do.
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

  /// The bytes of one page, as long as the object lives.
  final class Page {
    let number: Int
    let bytes: ByteView

    fileprivate init(_ number: Int, _ bytes: MutableByteView) {
      self.number = number
      self.bytes = ByteView(bytes)
    }

    deinit { bytes.deallocate() }
  }

  /// `nil` for a number that is no page of the file.
  func page(_ number: UInt64) throws(VerificationError) -> Page? {
    guard number >= PageLayout.firstDataPage, number < UInt64(pageCount) else { return nil }
    let buffer = MutableByteView.allocate(byteCount: pageSize, alignment: 16)
    let page = Page(Int(number), buffer)
    return try file.read(into: buffer, at: Int(number) * pageSize) == pageSize ? page : nil
  }

  /// Whether a page says that it is the one that it is.
  func isInPlace(_ page: Page) -> Bool {
    page.bytes.uint64(at: PageLayout.number) == UInt64(page.number)
  }

  func flags(_ page: Page) -> UInt16 { page.bytes.uint16(at: format.flags) }

  /// The commit that wrote a page; 0 where the format does not tell.
  func commit(_ page: Page) -> UInt64 { format.transaction.map { page.bytes.uint64(at: $0) } ?? 0 }

  // MARK: Nodes

  /// Where a node's parts are in its page; all ranges are within the page.
  struct Node {
    var offset: Int
    var end: Int
    var key: Range<Int>
    var valueStart: Int
    var size: Int
    var flags: UInt16
    var child: UInt64
  }

  /// The nodes of a page that fit it, and whether they fill it as LMDB has them do.
  ///
  /// LMDB leaves no space between nodes. So where slots are damaged, the nodes are found from the
  /// first one on, and deleted ones never are.
  func nodes(of page: Page, isLeaf: Bool) -> (nodes: [Node], isWhole: Bool) {
    let bytes = page.bytes
    let lower = format.origin + Int(bytes.uint16(at: format.lower))
    let upper = format.origin + Int(bytes.uint16(at: format.upper))
    var bySlots: [Node] = []
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
    var inRow: [Node] = []
    var next = upper
    while next < pageSize, next >= format.headerSize, let node = node(at: next, bytes, isLeaf) {
      inRow.append(node)
      next = node.end
    }
    let isRow = next == pageSize && !inRow.isEmpty
    if isRow, format.headerSize + PageLayout.slotSize * inRow.count <= upper {
      return (sorted(inRow, in: page), true)
    }
    // Overlapping nodes cannot all be right; the values' checksums decide.
    var known: Set<Int> = []
    return ((bySlots + inRow).filter { known.insert($0.offset).inserted }, false)
  }

  /// In the order of the slots where these lead to them.
  private func sorted(_ nodes: [Node], in page: Page) -> [Node] {
    var places: [Int: Int] = [:]
    for index in nodes.indices {
      let slot = format.slot(index)
      guard slot + PageLayout.slotSize <= pageSize else { break }
      places[format.origin + Int(page.bytes.uint16(at: slot))] = index
    }
    return nodes.sorted { places[$0.offset] ?? Int.max < places[$1.offset] ?? Int.max }
  }

  private func fills(_ nodes: [Node], from upper: Int) -> Bool {
    var next = upper
    for node in nodes.sorted(by: { $0.offset < $1.offset }) {
      guard node.offset == next else { return false }
      next = node.end
    }
    return next == pageSize
  }

  private func node(at offset: Int, _ page: ByteView, _ isLeaf: Bool) -> Node? {
    guard offset >= format.headerSize, offset & 1 == 0,
      offset + PageLayout.nodeHeaderSize <= pageSize
    else { return nil }
    let low = UInt64(page.uint32(at: offset + PageLayout.nodeValueSize))
    let flags = page.uint16(at: offset + PageLayout.nodeFlags)
    let start = offset + PageLayout.nodeHeaderSize
    let keySize = Int(page.uint16(at: offset + PageLayout.nodeKeySize))
    let isElsewhere = flags & NodeFlag.isLarge != 0
    let held = !isLeaf ? 0 : isElsewhere ? format.overflowReferenceSize : Int(low)
    let valueStart = start + (isLeaf ? format.valueOffset(behindKeyOf: keySize) : keySize)
    guard valueStart <= pageSize, held <= pageSize - valueStart else { return nil }
    let end = (valueStart + held + 1) & ~1
    guard end <= pageSize else { return nil }
    return Node(
      offset: offset, end: end, key: start..<start + keySize, valueStart: valueStart,
      size: Int(low), flags: flags, child: low | UInt64(flags) << PageLayout.childLowBits)
  }

  // MARK: Values

  /// A pair of a leaf.
  struct Pair {
    let key: ByteView
    let body: ByteView
    let flags: UInt16
    /// Keeps the bytes.
    fileprivate let owners: [AnyObject]
  }

  private final class Run {
    let bytes: MutableByteView
    init(_ count: Int) { bytes = .allocate(byteCount: count, alignment: 16) }
    deinit { bytes.deallocate() }
  }

  /// The pair of a node; `nil` where its value is in pages that are not one.
  func pair(_ node: Node, in page: Page) throws(VerificationError) -> Pair? {
    let key = page.bytes[node.key]
    guard node.flags & NodeFlag.isLarge != 0 else {
      let end = node.valueStart + node.size
      guard end <= pageSize else { return nil }
      let body = page.bytes[node.valueStart..<end]
      return Pair(key: key, body: body, flags: node.flags, owners: [page])
    }
    guard let pages = try run(of: node, in: page), pages.count <= spare else { return nil }
    spare -= pages.count
    let run = Run(format.headerSize + node.size)
    guard try file.read(into: run.bytes, at: pages.lowerBound * pageSize) == run.bytes.count else {
      return nil
    }
    let body = ByteView(run.bytes)[format.headerSize...]
    return Pair(key: key, body: body, flags: node.flags, owners: [page, run])
  }

  /// The pages of a value that is not in its leaf; `nil` where their first one is no such page.
  func run(of node: Node, in page: Page) throws(VerificationError) -> Range<Int>? {
    guard node.flags & NodeFlag.isLarge != 0, let pages = runPages(of: node, in: page) else {
      return nil
    }
    let start = try Self.read(file, at: pages.lowerBound * pageSize, count: format.headerSize)
    let isRun =
      start.count == format.headerSize
      && start._withBytes { $0.uint64(at: PageLayout.number) == UInt64(pages.lowerBound) }
    return isRun ? pages : nil
  }

  /// The pairs of a leaf, each read when it is asked for: a leaf may lead to any number of long
  /// values.
  struct Pairs: RandomAccessCollection {
    let file: DamagedFile
    let page: Page
    let nodes: [Node]

    var startIndex: Int { 0 }
    var endIndex: Int { nodes.count }
    /// `nil` for a pair that cannot be read, also where the disk refuses.
    subscript(position: Int) -> Pair? { (try? file.pair(nodes[position], in: page)) ?? nil }
  }

  /// How many pages of long values may be read until the next ``beginReading()``.
  ///
  /// Without a bound, a file could name one long run in each of its nodes, and be read for hours.
  private var spare = 0

  /// Called before pages are read in a row, each leaf a few times.
  func beginReading() { spare = 8 * pageCount }

  private func runPages(of node: Node, in page: Page) -> Range<Int>? {
    let first = page.bytes.uint64(at: node.valueStart)
    let count = format.overflowPages(of: node.size, pageSize: pageSize)
    guard first >= PageLayout.firstDataPage, first < UInt64(pageCount),
      count <= pageCount - Int(first)
    else { return nil }
    return Int(first)..<Int(first) + count
  }
}
