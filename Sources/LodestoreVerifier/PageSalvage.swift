import LMDB
import LodestoreFormat
internal import LodestorePages

/// Reads the pairs of a damaged file that still can be read, and says what cannot.
///
/// A page whose header is wrong is left out with all that hangs below it, a node that does not fit its page alone.
/// No bytes make it trap, or read more than twice the pages that there are. What it finds is not right for that: the
/// caller compares checksums.
///
/// Nobody may write the file meanwhile. Memory is one page for each level of a tree, the value that is read, and
/// three bits for each page of the file.
final class PageSalvage {
  /// The keys between which pages of a tree could not be read; `nil` is open.
  struct Gap: Equatable {
    var low: [UInt8]?
    var high: [UInt8]?

    /// The ids of records between them.
    var ids: Range<UInt64> {
      func bound(_ bytes: [UInt8]?) -> UInt64? {
        bytes.flatMap { $0.count == 8 ? $0.withUnsafeBytes { $0._uint64(at: 0) } : nil }
      }
      let start = bound(low) ?? 0
      return start..<max(start, bound(high) ?? .max)
    }
  }

  /// Called with a key and a value; both are valid until it returns.
  typealias Visit = (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Void

  private let file: PageFile
  /// The layout of its pages.
  let format: PageFormat
  private let pageSize: Int
  private let filePages: Int
  /// Its two commits, the newest first.
  let metas: [MetaPage]
  /// Pages of trees that were walked.
  private var known: PageSet
  /// Pages that the free list names, which may be damaged: a page that a tree leads to is read all the same.
  private var free: PageSet
  /// How many pages of long values may be read that are known already.
  ///
  /// A damaged node may name the run of a sound one and be the first to do so, so that a run is not read once
  /// only. Without a bound, a file could name one long run in each of its nodes, and be read for hours.
  private var spare: Int
  private var buffers: [UnsafeMutableRawBufferPointer] = []

  init(path: String) throws(VerificationError) {
    file = try PageFile(path: path)
    let size = try file.sizeInBytes()
    var metas: [MetaPage] = []
    var pageSize = 0
    var format = PageFormat.lmdb09
    // The page size is in the first meta page, or it is tried.
    for candidate in [0] + Self.pageSizes where pageSize == 0 {
      for possible in PageFormat.all where pageSize == 0 {
        guard let meta = try Self.meta(file, possible, at: candidate) else { continue }
        pageSize = meta.pageSize
        format = possible
      }
    }
    guard pageSize > 0 else {
      throw .notAStore(
        "neither of its first two pages is a meta page of LMDB's data version 1 or 3")
    }
    self.format = format
    for offset in [0, pageSize] {
      if let meta = try Self.meta(file, format, at: offset), meta.pageSize == pageSize {
        metas.append(meta)
      }
    }
    self.metas = metas.sorted { $0.transaction > $1.transaction }
    self.pageSize = pageSize
    filePages = size / pageSize
    known = PageSet(bound: filePages)
    free = PageSet(bound: filePages)
    spare = filePages
  }

  deinit { for buffer in buffers { buffer.deallocate() } }

  private static var pageSizes: [Int] { (9...16).map { 1 << $0 } }

  private static func meta(
    _ file: PageFile, _ format: PageFormat, at offset: Int
  ) throws(VerificationError) -> MetaPage? {
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: format.meta.size, alignment: 16)
    defer { buffer.deallocate() }
    guard try file.read(into: buffer, at: offset) == buffer.count else { return nil }
    let meta = MetaPage(UnsafeRawBufferPointer(buffer), format)
    guard meta.magic == MetaPageLayout.magicNumber, meta.version == format.dataVersion,
      Self.pageSizes.contains(meta.pageSize)
    else { return nil }
    return meta
  }

  // MARK: Trees

  /// Forgets what was walked, to read another commit.
  func reset() {
    known = PageSet(bound: filePages)
    free = PageSet(bound: filePages)
    spare = filePages
  }

  /// Visits the pairs of a tree, in the order of its pages; returns what could not be read.
  func walk(_ record: TreeRecord, isNames: Bool = false, _ visit: Visit) throws -> [Gap] {
    guard record.root != TreeRecordLayout.noPage else { return [] }
    var gaps: [Gap] = []
    try walk(record.root, of: record, level: 0, Gap(), isNames, &gaps, visit)
    return gaps
  }

  private func walk(
    _ number: UInt64, of record: TreeRecord, level: Int, _ bounds: Gap, _ isNames: Bool,
    _ gaps: inout [Gap],
    _ visit: Visit
  ) throws {
    guard level < PageLayout.deepestTree, let page = try bytes(of: number, level: level),
      known.insert(Int(number))
    else { return add(bounds, to: &gaps) }
    let flags = page._uint16(at: format.flags)
    guard flags == PageFlag.leaf || flags == PageFlag.branch else { return add(bounds, to: &gaps) }
    let isLeaf = flags == PageFlag.leaf
    guard let nodes = nodes(of: page, isLeaf: isLeaf) else { return add(bounds, to: &gaps) }
    if nodes.contains(where: { $0 == nil }) { add(bounds, to: &gaps) }
    let whole = nodes.compactMap { $0 }
    if isLeaf {
      let ids = bounds.ids
      for node in whole {
        // With integer keys, those that belong elsewhere: the page is one of another tree.
        let isForeign =
          record.flags & TreeRecordLayout.integerKeys != 0
          && (node.key.count != 8 || !ids.contains(page._uint64(at: node.key.lowerBound)))
        if try isForeign || !visitPair(node, in: page, isNames, visit) { add(bounds, to: &gaps) }
      }
      return
    }
    for (index, node) in whole.enumerated() {
      var inner = bounds
      if index > 0 { inner.low = Array(page[node.key]) }
      if index + 1 < whole.count { inner.high = Array(page[whole[index + 1].key]) }
      try walk(node.child, of: record, level: level + 1, inner, isNames, &gaps, visit)
    }
  }

  /// A page has one gap, however many of its nodes cannot be read.
  private func add(_ gap: Gap, to gaps: inout [Gap]) {
    if gaps.last != gap { gaps.append(gap) }
  }

  /// Where a node's parts are in its page.
  private struct Node {
    var key: Range<Int>
    var valueStart: Int
    var size: Int
    var flags: UInt16
    var child: UInt64
  }

  /// `nil` for a page whose header is wrong, and in the place of each node that does not fit.
  private func nodes(of page: UnsafeRawBufferPointer, isLeaf: Bool) -> [Node?]? {
    let lower = format.origin + Int(page._uint16(at: format.lower))
    let upper = format.origin + Int(page._uint16(at: format.upper))
    guard lower >= format.headerSize, lower & 1 == 0, lower <= upper, upper <= pageSize else {
      return nil
    }
    // Nodes do not overlap; one that is damaged may seem to, and more than one page of that is another's work.
    var room = 2 * pageSize
    return stride(from: format.headerSize, to: lower, by: PageLayout.slotSize).map { slot in
      let offset = format.origin + Int(page._uint16(at: slot))
      guard offset >= upper, offset + PageLayout.nodeHeaderSize <= pageSize else { return nil }
      let low = UInt64(page._uint32(at: offset + PageLayout.nodeValueSize))
      let flags = page._uint16(at: offset + PageLayout.nodeFlags)
      let start = offset + PageLayout.nodeHeaderSize
      let end = start + Int(page._uint16(at: offset + PageLayout.nodeKeySize))
      let isElsewhere = flags & NodeFlag.isLarge != 0
      let held = !isLeaf ? 0 : isElsewhere ? format.overflowReferenceSize : Int(low)
      let valueStart = start + format.valueOffset(behindKeyOf: end - start)
      guard valueStart <= pageSize, held <= pageSize - valueStart, room > 0 else { return nil }
      room -= valueStart + held - offset
      return Node(
        key: start..<end, valueStart: valueStart, size: Int(low), flags: flags,
        child: low | UInt64(flags) << PageLayout.childLowBits)
    }
  }

  /// False for a value that cannot be read.
  private func visitPair(
    _ node: Node, in page: UnsafeRawBufferPointer, _ isNames: Bool, _ visit: Visit
  ) throws -> Bool {
    guard node.flags == (isNames ? NodeFlag.isTree : node.flags & NodeFlag.isLarge) else {
      return false
    }
    let key = UnsafeRawBufferPointer(rebasing: page[node.key])
    let start = node.valueStart
    guard node.flags & NodeFlag.isLarge != 0 else {
      try visit(key, UnsafeRawBufferPointer(rebasing: page[start..<start + node.size]))
      return true
    }
    let first = page._uint64(at: start)
    let count = format.overflowPages(of: node.size, pageSize: pageSize)
    guard first >= PageLayout.firstDataPage, first < UInt64(filePages),
      count <= filePages - Int(first)
    else { return false }
    guard try isRun(Int(first)), take(Int(first)..<Int(first) + count) else { return false }
    let run = UnsafeMutableRawBufferPointer.allocate(
      byteCount: format.headerSize + node.size, alignment: 16)
    defer { run.deallocate() }
    guard try file.read(into: run, at: Int(first) * pageSize) == run.count else { return false }
    let value = UnsafeRawBufferPointer(run)[format.headerSize...]
    try visit(key, UnsafeRawBufferPointer(rebasing: value))
    return true
  }

  /// Whether `page` says that it is the first one of a run.
  private func isRun(_ page: Int) throws(VerificationError) -> Bool {
    let header = UnsafeMutableRawBufferPointer.allocate(
      byteCount: format.headerSize, alignment: 16)
    defer { header.deallocate() }
    guard try file.read(into: header, at: page * pageSize) == header.count else { return false }
    let bytes = UnsafeRawBufferPointer(header)
    return bytes._uint64(at: PageLayout.number) == UInt64(page)
      && bytes._uint16(at: format.flags) == PageFlag.overflow
  }

  /// Marks pages as known; false where too many were.
  private func take(_ pages: Range<Int>) -> Bool {
    for page in pages where !known.insert(page) {
      guard spare > 0 else { return false }
      spare -= 1
    }
    return true
  }

  /// The bytes of a page that says that it is this one; valid until the next call for the level.
  private func bytes(
    of page: UInt64, level: Int
  ) throws(VerificationError) -> UnsafeRawBufferPointer? {
    guard page >= PageLayout.firstDataPage, page < UInt64(filePages) else { return nil }
    while buffers.count <= level {
      buffers.append(.allocate(byteCount: pageSize, alignment: 16))
    }
    guard try file.read(into: buffers[level], at: Int(page) * pageSize) == pageSize else {
      return nil
    }
    let bytes = UnsafeRawBufferPointer(buffers[level])
    return bytes._uint64(at: PageLayout.number) == page ? bytes : nil
  }

  // MARK: Pages without a tree

  /// Takes the pages that the free list names, as far as it can be read.
  func readFreeList(of meta: MetaPage) throws {
    _ = try walk(meta.freeList) { _, value in
      guard value.count >= 8 else { return }
      let count = min(value._uint64(at: 0), UInt64(value.count / 8 - 1))
      for index in 0..<Int(count) {
        let page = value._uint64(at: 8 + index * 8)
        if page < UInt64(filePages) { _ = free.insert(Int(page)) }
      }
    }
  }

  /// Visits the pairs of the leaves that no walk has come to and that are not free: those below a branch that is
  /// damaged, and perhaps ones of long ago.
  ///
  /// Each call visits the same ones in the same order, so that none need be kept.
  func forEachLostPair(_ visit: Visit) throws {
    let walked = known
    spare = filePages
    defer {
      known = walked
      spare = filePages
    }
    for page in Int(PageLayout.firstDataPage)..<max(Int(PageLayout.firstDataPage), filePages)
    where !known.contains(page) && !free.contains(page) {
      guard let bytes = try bytes(of: UInt64(page), level: 0),
        bytes._uint16(at: format.flags) == PageFlag.leaf,
        let nodes = nodes(of: bytes, isLeaf: true)
      else { continue }
      for case let node? in nodes { _ = try visitPair(node, in: bytes, false, visit) }
    }
  }
}
