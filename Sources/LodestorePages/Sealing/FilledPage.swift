import LodestoreBytes
internal import LodestoreFormat

/// A branch or leaf page that is filled in key order.
///
/// Nodes are placed from the page's end downwards, as LMDB does when it appends. All other bytes
/// are zero.
struct FilledPage {
  private static let format = PageFormat.lmdb09

  private(set) var bytes: [UInt8]
  private let flags: UInt16
  private var lower: Int
  private var upper: Int

  init(pageSize: Int, flags: UInt16) {
    bytes = [UInt8](repeating: 0, count: pageSize)
    self.flags = flags
    lower = Self.format.headerSize
    upper = pageSize
  }

  var isEmpty: Bool { lower == Self.format.headerSize }

  /// The number of bytes that a node and its slot take in a page.
  static func size(ofNodeWithKey keyCount: Int, value valueCount: Int) -> Int {
    (PageLayout.nodeHeaderSize + keyCount + valueCount + 1) & ~1 + PageLayout.slotSize
  }

  func fits(_ size: Int) -> Bool { size <= upper - lower }

  /// Adds the node of a pair.
  ///
  /// - Parameters:
  ///   - held: The bytes in the page: the value, or the reference to its overflow pages.
  ///   - valueCount: The length of the value.
  mutating func add(key: ByteView, held: ByteView, valueCount: UInt32, flags: UInt16) {
    upper -= Self.size(ofNodeWithKey: key.count, value: held.count) - PageLayout.slotSize
    let (node, slot) = (upper, lower)
    lower += PageLayout.slotSize
    bytes._withMutableBytes { bytes in
      bytes.storeBytes(of: UInt16(node), toByteOffset: slot, as: UInt16.self)
      bytes.storeBytes(
        of: valueCount, toByteOffset: node + PageLayout.nodeValueSize, as: UInt32.self)
      bytes.storeBytes(of: flags, toByteOffset: node + PageLayout.nodeFlags, as: UInt16.self)
      bytes.storeBytes(
        of: UInt16(key.count), toByteOffset: node + PageLayout.nodeKeySize, as: UInt16.self)
      let keyStart = node + PageLayout.nodeHeaderSize
      bytes[keyStart...].copyMemory(from: key)
      bytes[(keyStart + key.count)...].copyMemory(from: held)
    }
  }

  /// Adds the node of a child page.
  mutating func add(key: ByteView, child: UInt64) {
    add(
      key: key, held: ByteView(), valueCount: UInt32(truncatingIfNeeded: child),
      flags: UInt16(truncatingIfNeeded: child >> PageLayout.childLowBits))
  }

  /// Writes the header and passes the page to `body`.
  ///
  /// The page is empty afterwards.
  mutating func end<E: Error>(as number: UInt64, _ body: (ByteView) throws(E) -> Void) throws(E) {
    let format = Self.format
    let (flags, lower, upper) = (flags, lower, upper)
    bytes._withMutableBytes { bytes in
      bytes.storeBytes(of: number, toByteOffset: PageLayout.number, as: UInt64.self)
      bytes.storeBytes(of: flags, toByteOffset: format.flags, as: UInt16.self)
      bytes.storeBytes(of: UInt16(lower), toByteOffset: format.lower, as: UInt16.self)
      bytes.storeBytes(of: UInt16(upper), toByteOffset: format.upper, as: UInt16.self)
    }
    try bytes._withBytes(body)
    self = FilledPage(pageSize: bytes.count, flags: flags)
  }
}
