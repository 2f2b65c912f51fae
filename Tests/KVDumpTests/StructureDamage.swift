import LMDB

extension FaultFile {
  /// Damages references between pages while each page stays valid by itself, or damages the file as
  /// a whole.
  mutating func damageStructure(_ kind: DamageKind, _ random: inout DamageGenerator) {
    let size = Self.pageSize
    func below(_ bound: Int) -> Int { Int.random(in: 0..<max(1, bound), using: &random) }
    func anyPage() -> Int { 2 + below(pageCount - 2) }
    switch kind {
    case .nodeFlags:
      if let node = randomNode(ofType: 2, &random) {
        put(UInt16([1, 2, 3, 4, 6, 8, 0xffff].randomElement(using: &random) ?? 1), node + 4)
      }
    case .treeRecord:
      if let node = nodes(ofType: 2).filter({ uint16($0 + 4) & 2 != 0 })
        .randomElement(using: &random)
      {
        poke(value(of: node) + below(TreeRecordLayout.size), &random)
      }
    case .otherRoot:
      put(UInt64(anyPage()), newestMeta + [freeListRoot, mainRoot][below(2)])
    case .cycle:
      if let page = pages(ofType: 1).randomElement(using: &random),
        let node = nodes(of: page).randomElement(using: &random)
      {
        putChild([page, 0, 1, anyPage()][below(4)], node)
      }
    case .sharedChild:
      if let page = pages(ofType: 1).randomElement(using: &random) {
        let nodes = nodes(of: page)
        guard let one = nodes.randomElement(using: &random),
          let other = nodes.randomElement(using: &random)
        else { return }
        for offset in [0, 1, 2, 3, 4, 5] { bytes[one + offset] = bytes[other + offset] }
      }
    case .keyOrder:
      let page = (pages(ofType: 2) + pages(ofType: 1)).randomElement(using: &random) ?? 2
      let count = nodes(of: page).count
      let one = page * size + format.slot(below(count))
      let other = page * size + format.slot(below(count))
      let held = uint16(one)
      put(UInt16(uint16(other)), one)
      put(UInt16(held), other)
    case .sharedRun:
      let large = nodes(ofType: 2).filter { uint16($0 + 4) & 1 != 0 }
      if let node = large.randomElement(using: &random),
        let other = large.randomElement(using: &random)
      {
        let number = below(3) == 0 ? UInt64(anyPage()) : uint64(value(of: other))
        put(number, value(of: node))
      }
    case .usedPageInFreeList:
      let root = Int(clamping: uint64(newestMeta + freeListRoot))
      if root < pageCount, let node = nodes(of: root).randomElement(using: &random) {
        put(UInt64(anyPage()), value(of: node) + 8 * (1 + below(4)))
      }
    case .transaction:
      let number = uint64(newestMeta + format.meta.transaction)
      let numbers = [0, 1, number &- 1, number &+ 1, number &+ 2, 1 << 56, .max, random.next()]
      put(numbers[below(numbers.count)], below(2) * size + format.meta.transaction)
    case .lastPage:
      let number = uint64(newestMeta + format.meta.lastPage)
      let numbers = [0, 1, number / 2, number &- 1, number &+ 1, number * 2, 1 << 40, .max]
      put(numbers[below(numbers.count)], newestMeta + format.meta.lastPage)
    default: damageWhole(kind, &random)
    }
  }

  private mutating func damageWhole(_ kind: DamageKind, _ random: inout DamageGenerator) {
    let size = Self.pageSize
    func below(_ bound: Int) -> Int { Int.random(in: 0..<max(1, bound), using: &random) }
    switch kind {
    case .insertedBytes:
      let start = below(bytes.count)
      let count = 1 + below(16)
      if below(2) == 0 {
        bytes.insert(contentsOf: repeatElement(0, count: count), at: start)
      } else {
        bytes.removeSubrange(start..<min(bytes.count, start + count))
      }
    case .repeatedBlock:
      let length = min(65_536, bytes.count / 4)
      let (from, to) = (below(bytes.count - length), below(bytes.count - length))
      let block = Array(bytes[from..<(from + length)])
      bytes.replaceSubrange(to..<(to + length), with: block)
    case .randomPage:
      let start = below(pageCount) * size
      for offset in start..<(start + size) {
        bytes[offset] = UInt8(truncatingIfNeeded: random.next())
      }
    case .textMode:
      bytes = Array(
        bytes.split(separator: 10, omittingEmptySubsequences: false).joined(separator: [13, 10]))
    case .zeroTail:
      let start = (2 + below(pageCount - 2)) * size
      bytes.replaceSubrange(start..., with: repeatElement(0, count: bytes.count - start))
    default: preconditionFailure("no damage of the whole file")
    }
  }

  // MARK: Nodes

  /// The offsets of the nodes of a page that are within the file.
  private func nodes(of page: Int) -> [Int] {
    let start = page * Self.pageSize
    guard start + Self.pageSize <= bytes.count else { return [] }
    let lower = format.origin + uint16(start + format.lower)
    return stride(from: format.headerSize, to: min(lower, Self.pageSize - 1), by: 2).map {
      start + format.origin + uint16(start + $0)
    }.filter { $0 + 8 + uint16($0 + 6) + 56 <= bytes.count }
  }

  /// The offset of a node's value, or of the reference to its overflow pages.
  func value(of node: Int) -> Int {
    node + 8 + format.valueOffset(behindKeyOf: uint16(node + 6))
  }

  /// The offset of the node at `index` of the page that begins at `start`.
  func node(_ index: Int, at start: Int) -> Int {
    start + format.origin + uint16(start + format.slot(index))
  }

  private func nodes(ofType flag: Int) -> [Int] { pages(ofType: flag).flatMap { nodes(of: $0) } }

  private func randomNode(ofType flag: Int, _ random: inout DamageGenerator) -> Int? {
    pages(ofType: flag).randomElement(using: &random).flatMap {
      nodes(of: $0).randomElement(using: &random)
    }
  }

  /// Page numbers of branches have 48 bits: size and flags of the node.
  private mutating func putChild(_ page: Int, _ node: Int) {
    put(UInt32(truncatingIfNeeded: page), node)
    put(UInt16(truncatingIfNeeded: page >> 32), node + 4)
  }
}
