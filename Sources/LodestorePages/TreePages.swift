import LodestoreBytes
import LodestoreSystem

/// The pages of one tree in one commit, in LMDB's layout.
///
/// Every offset is checked, so a damaged page ends the search and not the process.
package struct TreePages: @unchecked Sendable {
  package let map: UnsafeRawPointer
  package let format: PageFormat
  package let pageSize: Int
  package let pageCount: UInt64
  let root: UInt64
  /// The depth stated by the tree's record.
  ///
  /// A tree of one leaf has depth 1.
  let depth: Int

  /// Whether the tree's keys are ids.
  let hasIntegerKeys: Bool

  /// Fails for an empty tree.
  package init?(
    map: UnsafeRawPointer, _ format: PageFormat, pageSize: Int, pageCount: UInt64, root: UInt64,
    depth: Int, hasIntegerKeys: Bool
  ) {
    guard root != TreeRecordLayout.noPage, root < pageCount else { return nil }
    self.map = map
    self.format = format
    self.pageSize = pageSize
    self.pageCount = pageCount
    self.root = root
    self.depth = depth
    self.hasIntegerKeys = hasIntegerKeys
  }

  /// The branch or leaf page `number`; `nil` if it is neither.
  func page(_ number: UInt64) -> Page? {
    Page(map, number: number, of: pageCount, size: pageSize, format)
  }

  /// The branch page above the leaf that contains or would contain `key`, and the leaf's index
  /// among its children; `nil` for a tree of one leaf.
  package func branch(above key: ByteView) -> (Page, Int)? {
    var number = root
    for level in 1..<max(2, min(depth, PageLayout.deepestTree)) {
      guard let page = page(number), page.isBranch else { return nil }
      let index = page.index(of: key, isInteger: hasIntegerKeys)
      if level + 1 >= depth { return (page, index) }
      number = page.child(at: index)
    }
    return nil
  }

  /// One branch or leaf page.
  package struct Page {
    let base: UnsafeRawPointer
    private let size: Int
    private let format: PageFormat
    let isBranch: Bool
    let count: Int

    fileprivate init?(
      _ map: UnsafeRawPointer, number: UInt64, of pageCount: UInt64, size: Int, _ format: PageFormat
    ) {
      guard number < pageCount else { return nil }
      base = map + Int(number) * size
      self.size = size
      self.format = format
      let flags = base.loadUnaligned(fromByteOffset: format.flags, as: UInt16.self)
      let lower =
        format.origin + Int(base.loadUnaligned(fromByteOffset: format.lower, as: UInt16.self))
      let kind = flags & (PageFlag.branch | PageFlag.leaf | PageFlag.packedLeaf)
      guard kind == PageFlag.branch || kind == PageFlag.leaf, lower >= format.headerSize,
        lower <= size
      else { return nil }
      isBranch = kind == PageFlag.branch
      count = (lower - format.headerSize) / PageLayout.slotSize
      if count == 0 { return nil }
    }

    @inline(__always)
    private init(_ page: Page, _ format: PageFormat) {
      base = page.base
      size = page.size
      self.format = format
      isBranch = page.isBranch
      count = page.count
    }

    /// Calls `search` with a copy of the page whose format is a compile-time constant, so that its
    /// loop reads at constant offsets.
    @inline(__always)
    func withConstantFormat<R>(_ search: (Page) -> R) -> R {
      format == .lmdb09 ? search(Page(self, .lmdb09)) : search(Page(self, .lmdb10))
    }

    /// In a leaf, the number of keys below `key`.
    ///
    /// In a branch, the index of the child that may contain it.
    func index(of key: ByteView, isInteger: Bool = false) -> Int {
      withConstantFormat { $0.search(key, isInteger: isInteger) }
    }

    @inline(__always)
    private func search(_ key: ByteView, isInteger: Bool) -> Int {
      // The first key of a branch page is not read: the first child has all keys below the second
      // key.
      var low = isBranch ? 1 : 0
      var high = count
      while low < high {
        let middle = (low + high) / 2
        let order = isInteger ? integerOrder(at: middle, key) : order(at: middle, key)
        if isBranch ? order <= 0 : order < 0 { low = middle + 1 } else { high = middle }
      }
      return isBranch ? low - 1 : low
    }

    /// The order of the key at `index` relative to `key`.
    @inline(__always)
    private func order(at index: Int, _ key: ByteView) -> Int {
      guard let node = node(at: index) else { return 1 }
      let keyCount = Int(
        base.loadUnaligned(fromByteOffset: node + PageLayout.nodeKeySize, as: UInt16.self))
      let start = node + PageLayout.nodeHeaderSize
      guard start + keyCount <= size else { return 1 }
      let shared = min(keyCount, key.count)
      if shared > 0, let bytes = key.baseAddress {
        let order = memcmp(base + start, bytes, shared)
        if order != 0 { return Int(order) }
      }
      return keyCount - key.count
    }

    /// The order of the id at `index` relative to `key`, in a tree of records.
    @inline(__always)
    private func integerOrder(at index: Int, _ key: ByteView) -> Int {
      guard let node = node(at: index), key.count == PageLayout.idSize,
        node + PageLayout.nodeHeaderSize + PageLayout.idSize <= size
      else { return 1 }
      let id = base.loadUnaligned(fromByteOffset: node + PageLayout.nodeHeaderSize, as: UInt64.self)
      let wanted = key.loadUnaligned(as: UInt64.self)
      return id == wanted ? 0 : id < wanted ? -1 : 1
    }

    @inline(__always)
    func child(at index: Int) -> UInt64 {
      guard let node = node(at: index) else { return .max }
      let low = base.loadUnaligned(fromByteOffset: node + PageLayout.nodeValueSize, as: UInt32.self)
      let high = base.loadUnaligned(fromByteOffset: node + PageLayout.nodeFlags, as: UInt16.self)
      return UInt64(low) | UInt64(high) << PageLayout.childLowBits
    }

    @inline(__always)
    func node(at index: Int) -> Int? {
      let offset =
        format.origin + Int(base.loadUnaligned(fromByteOffset: format.slot(index), as: UInt16.self))
      return offset >= format.headerSize && offset + PageLayout.nodeHeaderSize <= size
        ? offset : nil
    }
  }
}
