import LodestoreBytes

/// Writes one tree bottom up from its pairs in order.
///
/// Leaves and branches are filled completely. The writer holds one page for each level.
struct TreeWriter {
  private static let format = PageFormat.lmdb09

  /// A child of a branch page, with the lowest key below it.
  fileprivate struct Child {
    var key: [UInt8]
    var page: UInt64
  }

  /// The children of the branch page being filled.
  fileprivate struct Level {
    var children: [Child] = []
    /// The number of bytes that the children take in the page.
    var size = 0
  }

  let name: String
  private let hasIntegerKeys: Bool
  private let pageSize: Int
  /// The maximum size of a node within a leaf.
  ///
  /// Values of larger nodes go into overflow pages (LMDB: me_nodemax).
  private let greatestNode: Int
  private var leaf: FilledPage
  private var firstKey: [UInt8] = []
  private var lastKey: [UInt8] = []
  private var levels: [Level] = []
  private var record: TreeRecord

  init(_ name: String, hasIntegerKeys: Bool, pageSize: Int) {
    self.name = name
    self.hasIntegerKeys = hasIntegerKeys
    self.pageSize = pageSize
    greatestNode = Self.greatestNode(pageSize: pageSize)
    leaf = FilledPage(pageSize: pageSize, flags: PageFlag.leaf)
    record = TreeRecord(hasIntegerKeys: hasIntegerKeys)
  }

  /// The size of the greatest node: half of a page's room, rounded to an even number, less the size
  /// of a slot.
  static func greatestNode(pageSize: Int) -> Int {
    (pageSize - format.headerSize) / 2 & ~1 - PageLayout.slotSize
  }

  // MARK: Pairs

  /// Adds a pair whose key is above all keys before it.
  mutating func add(
    _ key: ByteView, _ value: ByteView, flags: UInt16 = 0,
    to output: inout PageOutput
  ) throws(PageWriteError) {
    guard
      hasIntegerKeys
        ? key.count == PageLayout.idSize : (1...PageLayout.longestKey).contains(key.count)
    else { throw .keyLength(tree: name, byteCount: key.count) }
    guard let valueCount = UInt32(exactly: value.count) else {
      throw .valueLength(tree: name, byteCount: value.count)
    }
    let isAscending =
      record.entries == 0
      || lastKey._withBytes { EngineKeyOrder.precedes($0, key, hasIntegerKeys) }
    guard isAscending else { throw .keyOrder(tree: name) }
    lastKey.removeAll(keepingCapacity: true)
    lastKey.append(contentsOf: key)
    record.entries += 1

    let isLarge = PageLayout.nodeHeaderSize + key.count + value.count > greatestNode
    let heldCount = isLarge ? Self.format.overflowReferenceSize : value.count
    if !leaf.fits(FilledPage.size(ofNodeWithKey: key.count, value: heldCount)) {
      try endLeaf(&output)
    }
    if leaf.isEmpty { firstKey = lastKey }
    guard isLarge else {
      leaf.add(key: key, held: value, valueCount: valueCount, flags: flags)
      return
    }
    var run = output.next.littleEndian
    try addRun(value, &output)
    withUnsafeBytes(of: &run) {
      leaf.add(
        key: key, held: ByteView($0), valueCount: valueCount, flags: flags | NodeFlag.isLarge)
    }
  }

  /// Writes a value into overflow pages.
  private mutating func addRun(
    _ value: ByteView, _ output: inout PageOutput
  ) throws(PageWriteError) {
    let format = Self.format
    let pages = format.overflowPages(of: value.count, pageSize: pageSize)
    var header = [UInt8](repeating: 0, count: format.headerSize)
    let number = output.next
    header._withMutableBytes { header in
      header.storeBytes(of: number, toByteOffset: PageLayout.number, as: UInt64.self)
      header.storeBytes(of: PageFlag.overflow, toByteOffset: format.flags, as: UInt16.self)
      header.storeBytes(of: UInt32(pages), toByteOffset: format.overflowCount, as: UInt32.self)
    }
    try header._withBytes { (header) throws(PageWriteError) in try output.add(header, value) }
    record.overflowPages += UInt64(pages)
  }

  // MARK: Pages

  private mutating func endLeaf(_ output: inout PageOutput) throws(PageWriteError) {
    let number = output.next
    try leaf.end(as: number) { (page) throws(PageWriteError) in try output.add(page) }
    record.leafPages += 1
    try add(Child(key: firstKey, page: number), to: 0, &output)
  }

  private mutating func add(
    _ child: Child, to level: Int, _ output: inout PageOutput
  ) throws(PageWriteError) {
    if level == levels.count { levels.append(Level()) }
    let size = FilledPage.size(ofNodeWithKey: child.key.count, value: 0)
    if levels[level].size + size > pageSize - Self.format.headerSize {
      // The last child begins the next page, so that no page has only one child.
      let last = levels[level].children.removeLast()
      try endBranch(level, &output)
      levels[level].add(last)
    }
    levels[level].add(child)
  }

  private mutating func endBranch(_ level: Int, _ output: inout PageOutput) throws(PageWriteError) {
    let children = levels[level].children
    levels[level] = Level()
    guard let first = children.first else { return }
    let number = output.next
    var page = FilledPage(pageSize: pageSize, flags: PageFlag.branch)
    for (index, child) in children.enumerated() {
      // The first key of a branch is never read, so it is left empty.
      let key = index == 0 ? [] : child.key
      key._withBytes { page.add(key: $0, child: child.page) }
    }
    try page.end(as: number) { (page) throws(PageWriteError) in try output.add(page) }
    record.branchPages += 1
    try add(Child(key: first.key, page: number), to: level + 1, &output)
  }

  /// Writes the incomplete pages and returns the record of the tree.
  mutating func end(_ output: inout PageOutput) throws(PageWriteError) -> TreeRecord {
    guard record.entries > 0 else { return record }
    try endLeaf(&output)
    var level = 0
    while level + 1 < levels.count || levels[level].children.count > 1 {
      try endBranch(level, &output)
      level += 1
    }
    record.depth = UInt16(level + 1)
    record.root = levels[level].children[0].page
    return record
  }
}

extension TreeWriter.Level {
  fileprivate mutating func add(_ child: TreeWriter.Child) {
    // The page omits its first key, which leaves room for a last child with any key.
    size += FilledPage.size(ofNodeWithKey: children.isEmpty ? 0 : child.key.count, value: 0)
    children.append(child)
  }
}
