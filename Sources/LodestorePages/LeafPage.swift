public import CChecksum
import LodestoreBytes

/// A leaf page of the map, in LMDB's layout.
///
/// Every offset is checked, so a damaged page cannot make a read leave the page. The type is public
/// so that scans in other modules can inline it into their loop over records. The type has few
/// fields, because such a loop needs the processor's registers for its body.
@_documentation(visibility: internal)
@frozen public struct LeafPage {
  /// The address of the first slot.
  @usableFromInline let slots: UnsafeRawPointer
  /// The address from which the page's offsets count.
  @usableFromInline let origin: UnsafeRawPointer
  /// The end of the page, as an offset from ``origin``.
  @usableFromInline let end: Int
  /// The number of pairs.
  @_documentation(visibility: internal)
  public let count: Int
  @usableFromInline let format: PageFormat

  /// The page at `base`; `nil` if it is not a leaf.
  package init?(_ base: UnsafeRawPointer, size: Int, _ format: PageFormat) {
    let flags = base.load(fromByteOffset: format.flags, as: UInt16.self)
    let lower = format.origin + Int(base.load(fromByteOffset: format.lower, as: UInt16.self))
    // Only the flag for a dirty page may be set besides the flag for a leaf.
    guard flags & ~PageFlag.dirty == PageFlag.leaf,
      lower >= format.headerSize + PageLayout.slotSize, lower <= size
    else { return nil }
    slots = base + format.headerSize
    origin = base + format.origin
    end = size - format.origin
    count = (lower - format.headerSize) / PageLayout.slotSize
    self.format = format
  }

  /// An empty stand-in for a page, without pairs.
  package init() {
    origin = UnsafeRawPointer(bitPattern: 8).unsafelyUnwrapped
    slots = origin
    end = 0
    count = 0
    format = .lmdb09
  }

  /// The address of the page's first byte.
  package var base: UnsafeRawPointer { origin - format.origin }

  /// The mean size of a pair in bytes, calculated from the page's free space without checks.
  var meanSize: Int {
    // The last field of the header is the end of the free space.
    (end - Int(slots.load(fromByteOffset: -2, as: UInt16.self))) / max(1, count)
  }

  /// The offset of the pair at `index` from the page's origin, as stated by its slot.
  ///
  /// The offset is not checked.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func node(_ index: Int) -> Int {
    Int(slots.load(fromByteOffset: index &* PageLayout.slotSize, as: UInt16.self))
  }

  /// Whether `address` is within the page.
  package func contains(_ address: UnsafeRawPointer?) -> Bool {
    address.map { $0 >= base && $0 < origin + end } ?? false
  }

  /// Prefetches the first `byteCount` bytes of the pair at `index`, at most two kilobytes.
  ///
  /// An index beyond the last pair continues in the page that begins `following` bytes from this
  /// one. If that page does not have the pair either, useless lines are fetched.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func prefetch(_ index: Int, _ following: Int, byteCount: Int = 0) {
    let isHere = index < count
    let slot = (isHere ? index : index &- count) &* PageLayout.slotSize
    // All pages have the same layout, so everything in the other page is at the same distance.
    let distance = isHere ? 0 : following
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

  /// The index of the pair whose key is at the address `key`, which must be in this page.
  ///
  /// - Parameter guess: The index that is tried first.
  package func index(ofKeyAt key: UnsafeRawPointer, guess: Int) -> Int? {
    let wanted = key - origin - PageLayout.nodeHeaderSize
    if guess < count, node(guess) == wanted { return guess }
    return (0..<count).first { node($0) == wanted }
  }

  /// The header of a node; `nil` if it is outside the page or overlaps the slots.
  @inlinable @inline(__always)
  func header(_ node: Int, byteCount: Int) -> UnsafeRawPointer? {
    let header = origin + node
    return header >= slots && node &+ byteCount <= end ? header : nil
  }

  /// The key of a node; `nil` if it is outside the page.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func key(_ node: Int) -> ByteView? {
    guard let header = header(node, byteCount: PageLayout.nodeHeaderSize) else { return nil }
    let count = Int(header.loadUnaligned(fromByteOffset: PageLayout.nodeKeySize, as: UInt16.self))
    guard count > 0, node &+ PageLayout.nodeHeaderSize &+ count <= end else { return nil }
    return ByteView(start: header + PageLayout.nodeHeaderSize, count: count)
  }

  /// The id that is a node's key; `nil` if the key is outside the page or is not an id.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func id(_ node: Int) -> UInt64? {
    guard
      let header = header(node, byteCount: PageLayout.nodeHeaderSize &+ PageLayout.idSize),
      header.loadUnaligned(fromByteOffset: PageLayout.nodeKeySize, as: UInt16.self)
        == PageLayout.idSize
    else { return nil }
    return header.loadUnaligned(fromByteOffset: PageLayout.nodeHeaderSize, as: UInt64.self)
  }

  /// The record at `index`; `nil` if it is outside the page.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func record(_ index: Int) -> (id: UInt64, bytes: ByteView)? {
    let node = node(index)
    guard let id = id(node), let bytes = value(node, keyCount: PageLayout.idSize) else {
      return nil
    }
    return (id, bytes)
  }

  /// The value of a node whose key has `keyCount` bytes; `nil` if it is outside the page.
  @inlinable @inline(__always) @_documentation(visibility: internal)
  public func value(_ node: Int, keyCount: Int) -> ByteView? {
    let length = Int(
      origin.loadUnaligned(fromByteOffset: node &+ PageLayout.nodeValueSize, as: UInt32.self))
    let flags = origin.loadUnaligned(fromByteOffset: node &+ PageLayout.nodeFlags, as: UInt16.self)
    let start = node &+ PageLayout.nodeHeaderSize &+ format.valueOffset(behindKeyOf: keyCount)
    guard flags & NodeFlag.isLarge == 0, start &+ length <= end else { return nil }
    return ByteView(start: origin + start, count: length)
  }
}
