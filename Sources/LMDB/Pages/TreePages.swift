import CLMDB

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The pages of one tree as a read transaction sees them, read as LMDB lays them out.
///
/// Every offset is checked, so that a damaged page ends the descent instead of the process.
struct TreePages {
  let map: UnsafeRawPointer
  let format: PageFormat
  let pageSize: Int
  let pageCount: UInt64
  let root: UInt64
  /// The depth as the tree's record has it: a tree of one leaf has 1.
  let depth: Int

  /// Nil for an empty tree, with the plain engine, and where the map does not look as expected.
  init?(of tree: Tree, in transaction: Transaction) throws(LMDBError) {
    guard transaction.environment.readsPages else { return nil }
    let info = transaction.environment.rawInfo
    format = transaction.environment.format
    pageSize = info.pageSize
    // LMDB begins no read whose pages are not in the map.
    pageCount = UInt64(min(info.usedBytes, info.mapSizeInBytes) / max(1, info.pageSize))
    let cursor = try Cursor(.names, in: transaction)
    let isFound = try format.key(ofTree: tree.name).withBytes { (name) throws(LMDBError) in
      try cursor.seek(name)
    }
    guard isFound, cursor.value.count == TreeRecordLayout.size,
      let inPage = cursor.key.baseAddress
    else { return nil }
    let record = cursor.value
    root = record.loadUnaligned(fromByteOffset: TreeRecordLayout.root, as: UInt64.self)
    depth = Int(record.loadUnaligned(fromByteOffset: TreeRecordLayout.depth, as: UInt16.self))
    guard root != TreeRecordLayout.noPage, root < pageCount,
      let map = Self.map(with: inPage, pageSize, pageCount, transaction.environment)
    else { return nil }
    self.map = map
  }

  /// Where the map begins, of which `address` is in a page.
  private static func map(
    with address: UnsafeRawPointer, _ pageSize: Int, _ pageCount: UInt64, _ environment: Environment
  ) -> UnsafeRawPointer? {
    // The header of the page begins with its number.
    let page = address - Int(bitPattern: address) % pageSize
    let number = page.loadUnaligned(fromByteOffset: PageLayout.number, as: UInt64.self)
    guard number < pageCount else { return nil }
    let map = page - Int(number) * pageSize
    return environment.beginsMap(at: map) ? map : nil
  }

  /// Where the map begins, in a read; `nil` when the file has no tree.
  static func map(in transaction: Transaction) -> UnsafeRawPointer? {
    let info = transaction.environment.rawInfo
    guard transaction.environment.readsPages, let cursor = try? Cursor(.names, in: transaction),
      (try? cursor.first()) == true, let address = cursor.key.baseAddress
    else { return nil }
    return map(
      with: address, info.pageSize, UInt64(info.usedBytes / max(1, info.pageSize)),
      transaction.environment)
  }

  /// The branch or leaf page `number`; `nil` where it is neither.
  func page(_ number: UInt64) -> Page? {
    Page(map, number: number, of: pageCount, size: pageSize, format)
  }

  /// The branch page above the leaf that has or would have `key`, and the index of that leaf among
  /// its children; `nil` for a tree of one leaf.
  func branch(above key: UnsafeRawBufferPointer, _ tree: Tree) -> (Page, Int)? {
    var number = root
    for level in 1..<max(2, min(depth, PageLayout.deepestTree)) {
      guard let page = page(number), page.isBranch else { return nil }
      let index = page.index(of: key, isInteger: tree.hasIntegerKeys)
      if level + 1 >= depth { return (page, index) }
      number = page.child(at: index)
    }
    return nil
  }

  /// One branch or leaf page.
  struct Page {
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

    /// In a leaf the number of keys below `key`; in a branch the index of the child that may have it.
    func index(of key: UnsafeRawBufferPointer, isInteger: Bool = false) -> Int {
      // The first key of a branch stands for "anything lower".
      var low = isBranch ? 1 : 0
      var high = count
      while low < high {
        let middle = (low + high) / 2
        let order = isInteger ? integerOrder(at: middle, key) : order(at: middle, key)
        if isBranch ? order <= 0 : order < 0 { low = middle + 1 } else { high = middle }
      }
      return isBranch ? low - 1 : low
    }

    /// The order of the key at `index` and `key`.
    private func order(at index: Int, _ key: UnsafeRawBufferPointer) -> Int {
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

    /// The same for the ids of a tree of records.
    private func integerOrder(at index: Int, _ key: UnsafeRawBufferPointer) -> Int {
      guard let node = node(at: index), key.count == PageLayout.idSize,
        node + PageLayout.nodeHeaderSize + PageLayout.idSize <= size
      else { return 1 }
      let id = base.loadUnaligned(
        fromByteOffset: node + PageLayout.nodeHeaderSize, as: UInt64.self)
      let wanted = key.loadUnaligned(as: UInt64.self)
      return id == wanted ? 0 : id < wanted ? -1 : 1
    }

    @inline(__always)
    func child(at index: Int) -> UInt64 {
      guard let node = node(at: index) else { return .max }
      let low = base.loadUnaligned(
        fromByteOffset: node + PageLayout.nodeValueSize, as: UInt32.self)
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

extension Environment {
  /// Whether the map begins at `address`, which was computed from the number in a page that may be damaged.
  ///
  /// The last address found right is remembered. Another is read by the kernel first, as a wrong number
  /// may lead to memory that is not mapped.
  fileprivate func beginsMap(at address: UnsafeRawPointer) -> Bool {
    let bits = UInt(bitPattern: address)
    if mapStart.load(ordering: .relaxed) == bits { return true }
    guard isReadable(address, byteCount: format.meta.version),
      address.loadUnaligned(fromByteOffset: format.meta.magic, as: UInt32.self)
        == MetaPageLayout.magicNumber
    else { return false }
    mapStart.store(bits, ordering: .relaxed)
    return true
  }
}

private func isReadable(_ address: UnsafeRawPointer, byteCount: Int) -> Bool {
  var ends: [Int32] = [-1, -1]
  guard pipe(&ends) == 0 else { return false }
  defer { for end in ends { close(end) } }
  return write(ends[1], address, byteCount) == byteCount
}
