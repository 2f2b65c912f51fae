import CLMDB

/// A leaf page of the map, read as LMDB lays it out.
///
/// Every offset is checked, so that what a damaged page says cannot lead out of it. It is public,
/// as what reads it runs for each record of a scan, in the loop of another module.
@_documentation(visibility: internal)
public struct LeafPage {
  @usableFromInline let base: UnsafeRawPointer
  /// Where the slots begin.
  @usableFromInline let slots: UnsafeRawPointer
  /// Where the page's offsets are counted from: the nodes' offsets below are from here.
  @usableFromInline let origin: UnsafeRawPointer
  /// Where the slots begin, from ``origin``: no node lies below.
  @usableFromInline let lowest: Int
  /// The end of the page, from ``origin``.
  @usableFromInline let end: Int
  @usableFromInline let valueAlignmentMask: Int
  /// The number of pairs.
  @_documentation(visibility: internal)
  public let count: Int

  /// The page that begins at `base`; `nil` when it is no leaf.
  @usableFromInline
  init?(_ base: UnsafeRawPointer, size: Int, _ format: PageFormat) {
    let flags = base.load(fromByteOffset: format.flags, as: UInt16.self)
    let lower = format.origin + Int(base.load(fromByteOffset: format.lower, as: UInt16.self))
    // A leaf, and nothing besides but perhaps dirty.
    guard flags & ~PageFlag.dirty == PageFlag.leaf,
      lower >= format.headerSize + PageLayout.slotSize, lower <= size
    else { return nil }
    self.base = base
    slots = base + format.headerSize
    origin = base + format.origin
    lowest = format.headerSize - format.origin
    end = size - format.origin
    valueAlignmentMask = format.valueAlignmentMask
    count = (lower - format.headerSize) / PageLayout.slotSize
  }

  /// No page: one without pairs.
  init() {
    base = UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped
    slots = base
    origin = base
    lowest = 0
    end = 0
    valueAlignmentMask = 0
    count = 0
  }

  /// The mean size of a pair in bytes, from the page's free space; unchecked.
  var meanSize: Int {
    // The header ends with the end of the free space.
    (end - Int(slots.load(fromByteOffset: -2, as: UInt16.self))) / max(1, count)
  }

  /// The offset of the pair at `index` from ``origin``, as its slot states it, unchecked.
  @inlinable @inline(__always)
  func node(_ index: Int) -> Int {
    Int(slots.load(fromByteOffset: index &* PageLayout.slotSize, as: UInt16.self))
  }

  /// Whether `address` lies in the page.
  func contains(_ address: UnsafeRawPointer?) -> Bool {
    address.map { $0 >= base && $0 < origin + end } ?? false
  }

  /// Prefetches the first lines of the pair at `index`, or `byteCount` bytes of it.
  ///
  /// Two kilobytes at most. An index beyond the last pair continues in the page that begins at
  /// `following`.
  ///
  /// Where that page has no such pair either, useless lines are fetched.
  @inlinable @inline(__always)
  func prefetch(_ index: Int, _ following: UnsafeRawPointer, byteCount: Int = 0) {
    let isHere = index < count
    let slot = (isHere ? index : index &- count) &* PageLayout.slotSize
    // The pages have one layout: all of the other page is as far from here as its begin.
    let distance = isHere ? 0 : following - base
    let pair =
      origin + distance + Int((slots + distance).load(fromByteOffset: slot, as: UInt16.self))
    lodestore_prefetch(pair)
    lodestore_prefetch(pair + 64)
    guard byteCount > 128 else { return }
    lodestore_prefetch(pair + 128)
    lodestore_prefetch(pair + 192)
    let end = min(byteCount, 2_048)
    var offset = 256
    while offset < end {
      lodestore_prefetch(pair + offset)
      offset &+= 64
    }
  }

  /// The index of the pair whose key lies at `key`, which is in this page.
  ///
  /// - Parameter guess: tried first.
  @usableFromInline
  func index(ofKeyAt key: UnsafeRawPointer, guess: Int) -> Int? {
    let wanted = key - origin - PageLayout.nodeHeaderSize
    if guess < count, node(guess) == wanted { return guess }
    return (0..<count).first { node($0) == wanted }
  }

  /// The key of a node; `nil` when it is not in the page.
  @inlinable @inline(__always)
  func key(_ node: Int) -> UnsafeRawBufferPointer? {
    let start = node &+ PageLayout.nodeHeaderSize
    guard node >= lowest, start <= end else { return nil }
    let count = Int(
      origin.loadUnaligned(fromByteOffset: node &+ PageLayout.nodeKeySize, as: UInt16.self))
    guard count > 0, start &+ count <= end else { return nil }
    return UnsafeRawBufferPointer(start: origin + start, count: count)
  }

  /// The id that is the key of a node; `nil` when there is none that lies in the page.
  @inlinable @inline(__always)
  func id(_ node: Int) -> UInt64? {
    let start = node &+ PageLayout.nodeHeaderSize
    guard node >= lowest, start &+ PageLayout.idSize <= end,
      origin.loadUnaligned(fromByteOffset: node &+ PageLayout.nodeKeySize, as: UInt16.self)
        == PageLayout.idSize
    else { return nil }
    return origin.loadUnaligned(fromByteOffset: start, as: UInt64.self)
  }

  /// The value of a node whose key has `keyCount` bytes; `nil` when it is not in the page.
  @inlinable @inline(__always)
  func value(_ node: Int, keyCount: Int) -> UnsafeRawBufferPointer? {
    let length = Int(
      origin.loadUnaligned(fromByteOffset: node &+ PageLayout.nodeValueSize, as: UInt32.self))
    let flags = origin.loadUnaligned(fromByteOffset: node &+ PageLayout.nodeFlags, as: UInt16.self)
    let start =
      node &+ PageLayout.nodeHeaderSize &+ keyCount &+ (keyCount & 1 & valueAlignmentMask)
    guard flags & NodeFlag.isLarge == 0, start &+ length <= end else { return nil }
    return UnsafeRawBufferPointer(start: origin + start, count: length)
  }
}
