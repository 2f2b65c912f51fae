import LodestoreBytes
internal import LodestoreFormat

extension PageWalk {
  /// The kind of pairs that a tree holds.
  enum Role { case freeList, names, data }

  /// The state of the walk of one tree.
  struct Walk {
    let name: String
    let role: Role
    let depth: Int
    var report: PageReport.Tree
  }

  /// The keys that a page may hold: `low` ≤ key < `high`; `nil` means unbounded.
  struct Bounds {
    var low: [UInt8]?
    var high: [UInt8]?
  }

  func walk(
    _ record: TreeRecord, name: String, role: Role
  ) throws(VerificationError) -> PageReport.Tree {
    var report = PageReport.Tree(name: name)
    report.hasIntegerKeys = record.flags & TreeRecordLayout.integerKeys != 0
    report.depth = Int(record.depth)
    var walk = Walk(name: name, role: role, depth: Int(record.depth), report: report)
    if record.root == TreeRecordLayout.noPage {
      if record.depth != 0 {
        findings.add(.treeCount, tree: name, "has no pages and depth \(record.depth), must be 0")
      }
    } else if !(1...PageLayout.deepestTree).contains(walk.depth) {
      findings.add(
        .treeCount, tree: name, "has depth \(record.depth), must be 1 to \(PageLayout.deepestTree)")
      return walk.report
    } else {
      try visit(record.root, level: 1, bounds: Bounds(), &walk)
    }
    if !isGivenUp { check(walk.report, against: record) }
    return walk.report
  }

  private func check(_ tree: PageReport.Tree, against record: TreeRecord) {
    let counts = [
      ("entries", record.entries, tree.entries),
      ("branch pages", record.branchPages, tree.branchPages),
      ("leaf pages", record.leafPages, tree.leafPages),
      ("overflow pages", record.overflowPages, tree.overflowPages),
    ]
    for (what, declared, counted) in counts where declared != UInt64(counted) {
      findings.add(.treeCount, tree: tree.name, "says \(declared) \(what), has \(counted)")
    }
  }

  private func visit(
    _ number: UInt64, level: Int, bounds: Bounds, _ walk: inout Walk
  ) throws(VerificationError) {
    guard !isGivenUp, claim(number, of: walk.name) else { return }
    guard let page = try bytes(of: number, level: level) else {
      findings.add(.truncated, tree: walk.name, "page \(number) is not in the file")
      return
    }
    let isLeaf = level == walk.depth
    guard let nodes = checkHeader(page, number, isLeaf: isLeaf, walk) else { return }
    if isLeaf { walk.report.leafPages += 1 } else { walk.report.branchPages += 1 }
    guard checkExtents(of: nodes, in: page, number, walk) else { return }
    if isOfSealedFile { checkUnused(page, number, nodes, isLeaf: isLeaf, walk.name) }
    checkOrder(of: nodes, in: page, number, isLeaf: isLeaf, bounds, walk)
    if isLeaf {
      walk.report.leafCapacityInBytes += pageSize - format.headerSize
      walk.report.leafUsedInBytes +=
        nodes.count * PageLayout.slotSize + pageSize - upper(of: page)
      for node in nodes where !isGivenUp { try visitPair(node, in: page, number, &walk) }
      return
    }
    for (index, node) in nodes.enumerated() {
      var inner = bounds
      if index > 0 { inner.low = Array(page[node.keyRange]) }
      if index + 1 < nodes.count { inner.high = Array(page[nodes[index + 1].keyRange]) }
      try visit(node.child, level: level + 1, bounds: inner, &walk)
    }
  }

  // MARK: One page

  /// The nodes of a page with a valid header; otherwise `nil`, after adding a finding.
  private func checkHeader(
    _ page: ByteView, _ number: UInt64, isLeaf: Bool, _ walk: Walk
  ) -> [PageNode]? {
    func refuse(_ detail: String) -> [PageNode]? {
      findings.add(.page, tree: walk.name, "page \(number): " + detail)
      return nil
    }
    guard page.uint64(at: PageLayout.number) == number else {
      return refuse("says it is page \(page.uint64(at: PageLayout.number))")
    }
    let expected = isLeaf ? PageFlag.leaf : PageFlag.branch
    guard page.uint16(at: format.flags) == expected else {
      return refuse("has flags \(page.uint16(at: format.flags)), must be \(expected)")
    }
    if let fault = transactionFault(of: page) { return refuse(fault) }
    let lower = format.origin + Int(page.uint16(at: format.lower))
    let upper = upper(of: page)
    guard lower >= format.headerSize, lower & 1 == 0, lower <= upper, upper <= pageSize else {
      return refuse("has its free space at \(lower) to \(upper)")
    }
    let count = (lower - format.headerSize) / PageLayout.slotSize
    // LMDB itself allows a branch of the free list to shrink to one child.
    let least = isLeaf || walk.role == .freeList ? 1 : 2
    guard count >= least else { return refuse("has \(count) nodes, must have \(least)") }
    var nodes: [PageNode] = []
    nodes.reserveCapacity(count)
    for index in 0..<count {
      let offset = format.origin + Int(page.uint16(at: format.slot(index)))
      guard offset >= upper, offset & 1 == 0, offset + PageLayout.nodeHeaderSize <= pageSize else {
        return refuse("node \(index) is at \(offset), nodes are at \(upper) to \(pageSize)")
      }
      guard let node = PageNode(at: offset, in: page, isLeaf: isLeaf, pageSize: pageSize, format)
      else {
        return refuse("node \(index) at \(offset) goes beyond the page")
      }
      nodes.append(node)
    }
    return nodes
  }

  /// The fault of the transaction number in a page's header, if the format has one; `nil` if it is
  /// right.
  ///
  /// LMDB 1.0 treats a page of a later commit as a page of the running write, and changes it in
  /// place.
  func transactionFault(of header: ByteView) -> String? {
    guard let written = format.transaction.map({ header.uint64(at: $0) }),
      written == 0 || written > meta.transaction
    else { return nil }
    return "was written by commit \(written), commits are 1 to \(meta.transaction)"
  }

  /// The offset at which the free space of a page ends.
  private func upper(of page: ByteView) -> Int {
    format.origin + Int(page.uint16(at: format.upper))
  }

  /// Checks that the nodes fill the page from its upper mark to its end without gaps.
  private func checkExtents(
    of nodes: [PageNode], in page: ByteView, _ number: UInt64, _ walk: Walk
  ) -> Bool {
    if areChained(nodes, from: upper(of: page)) { return true }
    var expected = upper(of: page)
    for node in nodes.sorted(by: { $0.offset < $1.offset }) {
      guard node.offset == expected else {
        findings.add(
          .page, tree: walk.name,
          "page \(number): a node is at \(node.offset), the one before it ends at \(expected)")
        return false
      }
      expected = node.end
    }
    guard expected == pageSize else {
      findings.add(
        .page, tree: walk.name, "page \(number): the nodes end at \(expected), not at \(pageSize)")
      return false
    }
    return true
  }

  /// Whether each node begins where another one ends, from `start` to the end of the page.
  private func areChained(_ nodes: [PageNode], from start: Int) -> Bool {
    // Nodes have even offsets, which `checkHeader` has checked.
    for node in nodes { nodeEnds[node.offset >> 1] = Int32(node.end) }
    defer { for node in nodes { nodeEnds[node.offset >> 1] = 0 } }
    var (position, count) = (start, 0)
    while position < pageSize, position & 1 == 0 {
      let end = Int(nodeEnds[position >> 1])
      guard end > position else { return false }
      position = end
      count += 1
    }
    return position == pageSize && count == nodes.count
  }

  private func checkOrder(
    of nodes: [PageNode], in page: ByteView, _ number: UInt64, isLeaf: Bool,
    _ bounds: Bounds, _ walk: Walk
  ) {
    let areIntegers = walk.report.hasIntegerKeys
    func complain(_ index: Int, _ detail: String) {
      findings.add(
        .pageOrder, tree: walk.name, key: page[nodes[index].keyRange],
        "page \(number), node \(index): " + detail)
    }
    // LMDB never reads the first key of a branch page. The key is often empty or outdated.
    for index in (isLeaf ? 0 : 1)..<max(nodes.count, isLeaf ? 0 : 1) {
      let key = page[nodes[index].keyRange]
      let isLengthRight =
        areIntegers
        ? key.count == PageLayout.idSize : (1...PageLayout.longestKey).contains(key.count)
      guard isLengthRight else {
        complain(index, "the key has \(key.count) bytes")
        continue
      }
      if index > (isLeaf ? 0 : 1) {
        let previous = page[nodes[index - 1].keyRange]
        if !EngineKeyOrder.precedes(previous, key, areIntegers) {
          complain(index, "the key is not above the one before it")
        }
      }
      if isLeaf, index == 0, isOfSealedFile { checkLowest(key, bounds, number, walk.name) }
      if let low = bounds.low,
        low._withBytes({ EngineKeyOrder.precedes(key, $0, areIntegers) })
      {
        complain(index, "the key is below what the page above says")
      }
      if let high = bounds.high,
        !high._withBytes({ EngineKeyOrder.precedes(key, $0, areIntegers) })
      {
        complain(index, "the key is above what the page above says")
      }
    }
  }
}
