import LodestoreBytes
import LodestoreSystem

/// A pair of a tree, in the map's pages.
package struct PagePair {
  package let keyStart: UnsafeRawPointer
  package let valueStart: UnsafeRawPointer
  package let valueCount: Int
  package let keyCount: UInt32
  /// Whether the value is the record of a tree.
  package let isTree: Bool

  package var key: ByteView { ByteView(start: keyStart, count: Int(keyCount)) }
  package var value: ByteView { ByteView(start: valueStart, count: valueCount) }
}

/// Searches that check every number before following it.
///
/// A wrong number is reported as an error with its page. Branches must be at the levels above the
/// tree's depth and leaves at that depth, so no search loops.
extension TreePages {
  /// A page that a search visits: its address, and the number of its pairs.
  struct Place {
    var base: UnsafeRawPointer
    var count: Int
  }

  /// The key to search for.
  struct Wanted {
    let bytes: ByteView
    /// The id, or the first eight bytes as a comparable number.
    let word: UInt64
    let hasWord: Bool

    @inline(__always)
    init(_ bytes: ByteView, isInteger: Bool) {
      self.bytes = bytes
      hasWord = bytes.count >= 8
      let first = hasWord ? bytes.loadUnaligned(as: UInt64.self) : 0
      word = isInteger ? first : first.bigEndian
    }
  }

  // MARK: Pages

  @inline(__always)
  func place(_ number: UInt64, isLeaf: Bool) throws(PageError) -> Place {
    guard number < pageCount else {
      throw fault(number, "a page leads to it, and the file has \(pageCount) pages")
    }
    let base = map + Int(number) &* pageSize
    let flags = base.loadUnaligned(fromByteOffset: format.flags, as: UInt16.self)
    let lower =
      format.origin &+ Int(base.loadUnaligned(fromByteOffset: format.lower, as: UInt16.self))
    guard flags & ~PageFlag.dirty == (isLeaf ? PageFlag.leaf : PageFlag.branch),
      lower >= format.headerSize &+ PageLayout.slotSize, lower <= pageSize,
      base.loadUnaligned(fromByteOffset: PageLayout.number, as: UInt64.self) == number
    else { throw fault(number, isLeaf ? "it is not a leaf page" : "it is not a branch page") }
    return Place(base: base, count: (lower &- format.headerSize) / PageLayout.slotSize)
  }

  @inline(never)
  func fault(_ number: UInt64, _ reason: String) -> PageError { PageError(page: number, reason) }

  /// The number of the page that contains an address.
  func number(of address: UnsafeRawPointer) -> UInt64 { UInt64((address - map) / pageSize) }

  @inline(never)
  func fault(in base: UnsafeRawPointer, at index: Int) -> PageError {
    PageError(page: number(of: base), "its entry \(index) leads out of the page")
  }

  /// The offset of a node; −1 if its header is outside the page.
  @inline(__always)
  func offset(_ base: UnsafeRawPointer, _ index: Int) -> Int {
    let offset =
      format.origin
      &+ Int(base.loadUnaligned(fromByteOffset: format.slot(index), as: UInt16.self))
    return offset >= format.headerSize && offset &+ PageLayout.nodeHeaderSize <= pageSize
      ? offset : -1
  }

  @inline(__always)
  func child(_ base: UnsafeRawPointer, _ index: Int) throws(PageError) -> UInt64 {
    let node = offset(base, index)
    guard node >= 0 else { throw fault(in: base, at: index) }
    let low = base.loadUnaligned(fromByteOffset: node &+ PageLayout.nodeValueSize, as: UInt32.self)
    let high = base.loadUnaligned(fromByteOffset: node &+ PageLayout.nodeFlags, as: UInt16.self)
    return UInt64(low) | UInt64(high) << PageLayout.childLowBits
  }

  /// The key of a node; `nil` if it is outside the page.
  @inline(__always)
  func key(_ base: UnsafeRawPointer, _ index: Int) -> ByteView? {
    let node = offset(base, index)
    guard node >= 0 else { return nil }
    let count = Int(
      base.loadUnaligned(fromByteOffset: node &+ PageLayout.nodeKeySize, as: UInt16.self))
    let start = node &+ PageLayout.nodeHeaderSize
    guard start &+ count <= pageSize else { return nil }
    return ByteView(start: base + start, count: count)
  }

  @inline(__always)
  func pair(_ base: UnsafeRawPointer, _ index: Int) throws(PageError) -> PagePair {
    let node = offset(base, index)
    guard node >= 0 else { throw fault(in: base, at: index) }
    let keyCount = Int(
      base.loadUnaligned(fromByteOffset: node &+ PageLayout.nodeKeySize, as: UInt16.self))
    let flags = base.loadUnaligned(fromByteOffset: node &+ PageLayout.nodeFlags, as: UInt16.self)
    let valueCount = Int(
      base.loadUnaligned(fromByteOffset: node &+ PageLayout.nodeValueSize, as: UInt32.self))
    let keyStart = node &+ PageLayout.nodeHeaderSize
    let valueStart = keyStart &+ format.valueOffset(behindKeyOf: keyCount)
    guard !hasIntegerKeys || keyCount == PageLayout.idSize, valueStart <= pageSize else {
      throw fault(in: base, at: index)
    }
    if flags & NodeFlag.isLarge != 0 {
      return PagePair(
        keyStart: base + keyStart,
        valueStart: try largeValue(base, index, valueStart, byteCount: valueCount),
        valueCount: valueCount, keyCount: UInt32(truncatingIfNeeded: keyCount), isTree: false)
    }
    guard valueStart &+ valueCount <= pageSize else { throw fault(in: base, at: index) }
    return PagePair(
      keyStart: base + keyStart, valueStart: base + valueStart, valueCount: valueCount,
      keyCount: UInt32(truncatingIfNeeded: keyCount), isTree: flags & NodeFlag.isTree != 0)
  }

  /// The start of a value in overflow pages.
  @inline(never)
  private func largeValue(
    _ base: UnsafeRawPointer, _ index: Int, _ reference: Int, byteCount: Int
  ) throws(PageError) -> UnsafeRawPointer {
    guard reference &+ format.overflowReferenceSize <= pageSize else {
      throw fault(in: base, at: index)
    }
    let number = base.loadUnaligned(fromByteOffset: reference, as: UInt64.self)
    let needed = UInt64(format.overflowPages(of: byteCount, pageSize: pageSize))
    guard number >= PageLayout.firstDataPage, number < pageCount, needed <= pageCount - number
    else {
      throw fault(number, "a value of \(byteCount) bytes begins there, beyond the file's end")
    }
    let page = map + Int(number) &* pageSize
    let flags = page.loadUnaligned(fromByteOffset: format.flags, as: UInt16.self)
    let count = page.loadUnaligned(fromByteOffset: format.overflowCount, as: UInt32.self)
    guard flags & ~PageFlag.dirty == PageFlag.overflow, UInt64(count) >= needed,
      page.loadUnaligned(fromByteOffset: PageLayout.number, as: UInt64.self) == number
    else { throw fault(number, "a long value is said to be there, and it is no overflow page") }
    return page + format.headerSize
  }

  // MARK: Searches

  /// In a leaf, the first index whose key is not below the wanted one.
  ///
  /// In a branch, the index of the child that may contain it.
  @inline(__always)
  func index(in place: Place, of wanted: Wanted, isBranch: Bool) throws(PageError) -> Int {
    // The first key of a branch page is not read: the first child has all keys below the second
    // key.
    var low = isBranch ? 1 : 0
    var high = place.count
    while low < high {
      let middle = (low &+ high) >> 1
      let node = offset(place.base, middle)
      guard node >= 0 else { throw fault(in: place.base, at: middle) }
      let isLower: Bool
      if hasIntegerKeys {
        guard node &+ PageLayout.idBranchNodeSize <= pageSize else {
          throw fault(in: place.base, at: middle)
        }
        let id = place.base.loadUnaligned(
          fromByteOffset: node &+ PageLayout.nodeHeaderSize, as: UInt64.self)
        isLower = isBranch ? id <= wanted.word : id < wanted.word
      } else {
        guard let order = order(of: node, in: place.base, wanted) else {
          throw fault(in: place.base, at: middle)
        }
        isLower = isBranch ? order <= 0 : order < 0
      }
      if isLower { low = middle &+ 1 } else { high = middle }
    }
    return isBranch ? low &- 1 : low
  }

  /// The order of a node's byte key and the wanted one; `nil` if the key is outside the page.
  @inline(__always)
  private func order(of node: Int, in base: UnsafeRawPointer, _ wanted: Wanted) -> Int? {
    let count = Int(
      base.loadUnaligned(fromByteOffset: node &+ PageLayout.nodeKeySize, as: UInt16.self))
    let start = base + (node &+ PageLayout.nodeHeaderSize)
    guard node &+ PageLayout.nodeHeaderSize &+ count <= pageSize else { return nil }
    if wanted.hasWord, count >= 8 {
      let word = start.loadUnaligned(as: UInt64.self).bigEndian
      if word != wanted.word { return word < wanted.word ? -1 : 1 }
    }
    if let bytes = wanted.bytes.baseAddress {
      let order = memcmp(start, bytes, min(count, wanted.bytes.count))
      if order != 0 { return Int(order) }
    }
    return count &- wanted.bytes.count
  }

  /// The pair with `key`; `nil` if the tree lacks the key.
  package func pair(of key: ByteView) throws(PageError) -> PagePair? {
    guard !hasIntegerKeys || key.count == PageLayout.idSize else { return nil }
    let wanted = Wanted(key, isInteger: hasIntegerKeys)
    var number = root
    for _ in 1..<max(1, depth) {
      let branch = try place(number, isLeaf: false)
      number = try child(branch.base, index(in: branch, of: wanted, isBranch: true))
    }
    let leaf = try place(number, isLeaf: true)
    let index = try index(in: leaf, of: wanted, isBranch: false)
    guard index < leaf.count else { return nil }
    let pair = try pair(leaf.base, index)
    return isEqual(pair.key, wanted) ? pair : nil
  }

  @inline(__always)
  func isEqual(_ key: ByteView, _ wanted: Wanted) -> Bool {
    guard key.count == wanted.bytes.count else { return false }
    if hasIntegerKeys { return key.loadUnaligned(as: UInt64.self) == wanted.word }
    guard let one = key.baseAddress, let other = wanted.bytes.baseAddress else { return true }
    return memcmp(one, other, key.count) == 0
  }

  /// Whether `one` comes before `other`.
  @inline(__always)
  func precedes(_ one: ByteView, _ other: ByteView) -> Bool {
    EngineKeyOrder.precedes(one, other, hasIntegerKeys)
  }
}
