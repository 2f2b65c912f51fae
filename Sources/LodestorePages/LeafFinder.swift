internal import CChecksum

/// Finds the leaf pages of a tree of ids by reading the map's pages directly.
///
/// Use it only in reads. Ids grow evenly from page to page, so interpolation finds the right child
/// or a neighbour. A binary search would read one cache line in each step.
package struct LeafFinder {
  /// A leaf page, and the lowest id that it can contain.
  package struct Leaf {
    package var number: UInt64 = 0
    var low: UInt64 = 0
  }

  private let pages: TreePages
  /// The branch page above the leaf found last.
  ///
  /// ``branchLow`` and ``branchEnd`` bound its ids.
  private var branch: TreePages.Page?
  private var branchLow: UInt64 = 0
  private var branchEnd: UInt64 = 0
  /// The index of the leaf found last among the children of its branch.
  private var childIndex = 0
  /// The number of children of the last branch visited below the root.
  ///
  /// Most branches have the same number.
  private var usualCount = 0

  package init(_ pages: TreePages) { self.pages = pages }

  var pageSize: Int { pages.pageSize }
  var format: PageFormat { pages.format }

  package func address(_ number: UInt64) -> UnsafeRawPointer {
    pages.map + Int(number) * pages.pageSize
  }

  /// The leaf page; `nil` if it is not a leaf.
  ///
  /// Page 0 is a meta page, so it yields `nil`.
  func page(_ leaf: Leaf) -> LeafPage? {
    leaf.number == 0 ? nil : LeafPage(address(leaf.number), size: pages.pageSize, pages.format)
  }

  /// The leaf page that contains or would contain `id`; page 0 if the search fails.
  ///
  /// In a damaged tree the page may not be a leaf, and ``page(_:)`` returns `nil`.
  package mutating func leaf(of id: UInt64) -> Leaf {
    if let branch, id >= branchLow, id < branchEnd {
      let child = child(of: branch, for: id, from: branchLow, to: branchEnd)
      childIndex = child.index
      return child.number < pages.pageCount ? Leaf(number: child.number, low: child.low) : Leaf()
    }
    branch = nil
    var number = pages.root
    // No record has the id 0.
    var low: UInt64 = 1
    var end = UInt64.max
    for level in 1...PageLayout.deepestTree {
      if level == pages.depth, number < pages.pageCount { return Leaf(number: number, low: low) }
      if level > 1 { prefetch(number, for: id, from: low, to: end) }
      guard
        let page = pages.page(number)
      else { break }
      guard page.isBranch else { return Leaf(number: number, low: low) }
      if level > 1 { usualCount = page.count }
      branch = page
      branchLow = low
      branchEnd = end
      (childIndex, number, low, end) = child(of: page, for: id, from: low, to: end)
    }
    branch = nil
    return Leaf()
  }

  /// Prefetches the parts of a branch page that ``child(of:for:from:to:)`` will probably read: its
  /// header, a slot and a node.
  ///
  /// Without this prefetch the three reads are three cache misses, each waiting for the previous
  /// miss. The guess assumes pages filled in order: they have equally many children, and their
  /// nodes are contiguous from the page's end.
  private func prefetch(_ number: UInt64, for id: UInt64, from low: UInt64, to end: UInt64) {
    guard number < pages.pageCount else { return }
    let base = address(number)
    lodestore_prefetch(base)
    guard end != .max else { return }
    let index = Self.guess(id, from: low, to: end, of: usualCount)
    lodestore_prefetch(base + pages.format.slot(index))
    // Fetch two lines around the node, because the guessed index is rarely exact.
    let node = base + pages.pageSize - index * PageLayout.idBranchNodeSize
    lodestore_prefetch(node - 40)
    lodestore_prefetch(node + 24)
  }

  /// The index of `id` among `count` children if ids grow evenly.
  private static func guess(_ id: UInt64, from low: UInt64, to end: UInt64, of count: Int) -> Int {
    id > low ? Int(Double(id - low) / Double(end - low) * Double(count)) : 0
  }

  /// The child of a branch page that covers `id`, and the child's range of ids.
  ///
  /// The page itself covers `low` to before `end`.
  ///
  /// The search is exponential from the interpolated index, then binary.
  private func child(
    of page: TreePages.Page, for id: UInt64, from low: UInt64, to end: UInt64
  ) -> Child {
    page.withConstantFormat { search($0, for: id, from: low, to: end) }
  }

  private typealias Child = (index: Int, number: UInt64, low: UInt64, end: UInt64)

  @inline(__always)
  private func search(
    _ page: TreePages.Page, for id: UInt64, from low: UInt64, to end: UInt64
  ) -> Child {
    // The first key of a branch page is not read: the first child has all keys below the second
    // key.
    var first = 0
    var firstLow = low
    var past = page.count
    var pastLow = end
    if end == .max, past > 1 {
      let last = lowestID(of: past - 1, in: page)
      if id >= last { return (past - 1, page.child(at: past - 1), last, end) }
      past -= 1
      pastLow = last
    }
    var probe = Self.guess(id, from: low, to: pastLow, of: past)
    var step = 1
    var direction = 0
    while past - first > 1 {
      let index = min(max(probe, first + 1), past - 1)
      let lowest = lowestID(of: index, in: page)
      let turn: Int
      if lowest <= id {
        (first, firstLow, turn) = (index, lowest, 1)
      } else {
        (past, pastLow, turn) = (index, lowest, -1)
      }
      if direction == 0 || direction == turn {
        direction = turn
        probe = index + turn * step
        step *= 2
      } else {
        // The direction has changed: the child is between the last two probes.
        direction = 2
        probe = (first + past) / 2
      }
    }
    return (first, page.child(at: first), firstLow, pastLow)
  }

  @inline(__always)
  private func lowestID(of index: Int, in page: TreePages.Page) -> UInt64 {
    guard let node = page.node(at: index),
      node + PageLayout.idBranchNodeSize <= pages.pageSize
    else { return .max }
    return page.base.loadUnaligned(
      fromByteOffset: node + PageLayout.nodeHeaderSize, as: UInt64.self)
  }

  // MARK: Leaves in key order

  /// The leaf page after the last found page; `nil` after the last page, and in a tree of one page.
  ///
  /// Throws if a branch refers to a page that is not a leaf. LMDB would end the process for such a
  /// file.
  package mutating func next() throws(PageError) -> LeafPage? {
    guard let branch else { return nil }
    let leaf: Leaf
    if childIndex + 1 < branch.count {
      childIndex += 1
      let number = branch.child(at: childIndex)
      leaf = number < pages.pageCount ? Leaf(number: number) : Leaf()
    } else {
      guard branchEnd != .max else { return nil }
      leaf = self.leaf(of: branchEnd)
    }
    guard let page = page(leaf) else {
      throw PageError(page: leaf.number, "a branch page leads to it, and it is no leaf")
    }
    return page
  }

  /// Requests the pages after the last found page.
  package func prefetch(_ windows: inout ScanWindows) {
    guard let branch else { return }
    windows.prefetch(for: pages, children: branch, from: childIndex, backwards: false)
  }

  /// Requests the leaf pages of records that will be read next.
  mutating func prefetch(for ids: UnsafeBufferPointer<UInt64>) {
    var numbers: [UInt64] = []
    numbers.reserveCapacity(ids.count)
    for id in ids {
      let leaf = leaf(of: id)
      if leaf.number != 0, leaf.number != numbers.last { numbers.append(leaf.number) }
    }
    ReadAhead(pages).prefetch(for: numbers)
  }

  /// Whether the leaf page of a record is in memory.
  mutating func isInMemory(_ id: UInt64) -> Bool {
    let number = leaf(of: id).number
    return number == 0 || ReadAhead(pages).isInMemory(number)
  }

  /// The address of the leaf page `step` pages after the one found last; `nil` beyond the end of
  /// its branch.
  package func address(ahead step: Int) -> UnsafeRawPointer? {
    guard let branch, childIndex + step < branch.count else { return nil }
    let number = branch.child(at: childIndex + step)
    return number < pages.pageCount ? address(number) : nil
  }
}
