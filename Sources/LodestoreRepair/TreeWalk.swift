internal import LodestoreBytes
internal import LodestoreFormat
internal import LodestorePages

/// The keys that a page may hold: `low` ≤ key < `high`; `nil` means unbounded.
struct KeyBounds {
  var low: [UInt8]?
  var high: [UInt8]?

  /// The ids within the bounds, for a tree with integer keys.
  var ids: Range<UInt64> {
    func bound(_ bytes: [UInt8]?) -> UInt64? {
      bytes.flatMap { $0.count == 8 ? $0._withBytes { $0.uint64(at: 0) } : nil }
    }
    let start = bound(low) ?? 0
    return start..<max(start, bound(high) ?? .max)
  }

  /// Narrows the bounds.
  ///
  /// A damaged branch cannot widen the bounds from above it.
  func narrowed(low: [UInt8]?, high: [UInt8]?, _ precedes: ([UInt8], [UInt8]) -> Bool) -> KeyBounds
  {
    var result = self
    if let low, self.low.map({ precedes($0, low) }) ?? true { result.low = low }
    if let high, self.high.map({ precedes(high, $0) }) ?? true { result.high = high }
    return result
  }
}

/// A leaf that a walk has reached.
struct WalkedLeaf {
  let page: DamagedFile.Page
  /// The pairs, with `nil` in place of each pair that cannot be read.
  let pairs: DamagedFile.Pairs
  /// Whether the nodes fill the page completely.
  let isWhole: Bool
  let bounds: KeyBounds
}

/// The counts of a walk.
struct WalkCounts {
  var branchPages = 0
  var leafPages = 0
  var overflowPages = 0
  var entries = 0
  /// The bounds of the pages that could not be used.
  var gaps: [KeyBounds] = []
  /// Whether all pages and pairs could be read.
  var isWhole = true

  /// Whether the counts match the tree's record.
  func fit(_ record: TreeRecord) -> Bool {
    isWhole && gaps.isEmpty && UInt64(entries) == record.entries
      && UInt64(branchPages) == record.branchPages && UInt64(leafPages) == record.leafPages
      && UInt64(overflowPages) == record.overflowPages
  }
}

extension DamagedFile {
  /// Walks a tree from its root, visiting each page once, down to the depth of its leaves.
  ///
  /// - Parameters:
  ///   - pages: Receives the used pages.
  ///   - visit: Returns whether the leaf belongs to the tree. A leaf that does not belong to the
  ///     tree leaves a gap.
  func walk(
    _ record: TreeRecord, pages: inout PageSet, _ visit: (WalkedLeaf) throws -> Bool
  ) throws -> WalkCounts {
    var counts = WalkCounts()
    guard record.root != TreeRecordLayout.noPage else { return counts }
    beginReading()
    let depth = try depth(of: record)
    let hasIntegerKeys = record.flags & TreeRecordLayout.integerKeys != 0
    try walk(
      record.root, level: 1, depth: depth, bounds: KeyBounds(), hasIntegerKeys: hasIntegerKeys,
      pages: &pages, counts: &counts, visit)
    return counts
  }

  /// Walks a tree without returning its pages.
  @discardableResult
  func walk(_ record: TreeRecord, _ visit: (WalkedLeaf) throws -> Bool) throws -> WalkCounts {
    var pages = PageSet(bound: pageCount)
    return try walk(record, pages: &pages, visit)
  }

  /// Visits the readable pairs of a tree.
  func forEachPair(of record: TreeRecord, _ visit: (Pair) throws -> Void) throws {
    try walk(record) { leaf in
      for case let pair? in leaf.pairs { try visit(pair) }
      return true
    }
  }

  /// The pages of a tree.
  func pages(of record: TreeRecord) throws -> PageSet {
    var pages = PageSet(bound: pageCount)
    _ = try walk(record, pages: &pages) { _ in true }
    return pages
  }

  /// The depth of both the leftmost and the rightmost path, or else the depth in the record.
  private func depth(of record: TreeRecord) throws -> Int {
    func length(_ child: ([PageNode]) -> PageNode?) throws -> Int {
      var (number, length) = (record.root, 1)
      while length < PageLayout.deepestTree, let page = try page(number),
        flags(page) == PageFlag.branch, let next = child(nodes(of: page, isLeaf: false).nodes)
      {
        number = next.child
        length += 1
      }
      return length
    }
    let (left, right) = (try length(\.first), try length(\.last))
    let declared = Int(record.depth)
    return left == right || !(1...PageLayout.deepestTree).contains(declared) ? left : declared
  }

  private func walk(
    _ number: UInt64, level: Int, depth: Int, bounds: KeyBounds, hasIntegerKeys: Bool,
    pages: inout PageSet, counts: inout WalkCounts, _ visit: (WalkedLeaf) throws -> Bool
  ) throws {
    guard let page = try page(number), !pages.contains(page.number) else {
      return counts.gaps.append(bounds)
    }
    let isLeaf = level == depth
    let other = isLeaf ? PageFlag.branch : PageFlag.leaf
    let (nodes, isWhole) = nodes(of: page, isLeaf: isLeaf)
    if !isWhole || !isInPlace(page) { counts.isWhole = false }
    guard flags(page) != other, !nodes.isEmpty, isLeaf || isWhole || isInPlace(page) else {
      return counts.gaps.append(bounds)
    }
    if flags(page) & 0x0f != (isLeaf ? PageFlag.leaf : PageFlag.branch) { counts.isWhole = false }
    guard isLeaf else {
      _ = pages.insert(page.number)
      counts.branchPages += 1
      let precedes = { (a: [UInt8], b: [UInt8]) in
        a._withBytes { a in
          b._withBytes { b in
            hasIntegerKeys && a.count == 8 && b.count == 8
              ? a.uint64(at: 0) < b.uint64(at: 0) : a.lexicographicallyPrecedes(b)
          }
        }
      }
      for (index, node) in nodes.enumerated() {
        let inner = bounds.narrowed(
          low: index > 0 ? Array(page.bytes[node.keyRange]) : nil,
          high: index + 1 < nodes.count ? Array(page.bytes[nodes[index + 1].keyRange]) : nil,
          precedes)
        try walk(
          node.child, level: level + 1, depth: depth, bounds: inner, hasIntegerKeys: hasIntegerKeys,
          pages: &pages, counts: &counts, visit)
      }
      return
    }
    let leaf = WalkedLeaf(
      page: page, pairs: Pairs(file: self, page: page, nodes: nodes), isWhole: isWhole,
      bounds: bounds)
    guard try visit(leaf) else { return counts.gaps.append(bounds) }
    _ = pages.insert(page.number)
    counts.leafPages += 1
    counts.entries += nodes.count
    for node in nodes where node.flags & NodeFlag.isLarge != 0 {
      guard let run = try run(of: node, in: page) else {
        counts.isWhole = false
        continue
      }
      counts.overflowPages += run.count
      for page in run where !pages.insert(page) { counts.isWhole = false }
    }
  }

  /// A leaf that no tree refers to.
  func leaf(_ number: Int) throws -> WalkedLeaf? {
    guard let page = try page(UInt64(number)) else { return nil }
    let (nodes, isWhole) = nodes(of: page, isLeaf: true)
    return WalkedLeaf(
      page: page, pairs: Pairs(file: self, page: page, nodes: nodes), isWhole: isWhole,
      bounds: KeyBounds())
  }
}
