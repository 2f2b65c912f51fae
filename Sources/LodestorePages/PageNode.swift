import LodestoreBytes

/// The extent of a node of a page.
///
/// Its ranges are within the page.
package struct PageNode {
  package let offset: Int
  package let end: Int
  /// The flags; 0 in a branch.
  package let flags: UInt16
  package let keyRange: Range<Int>
  /// The start of the value, or of the reference to its overflow pages.
  package let valueStart: Int
  package let dataSize: Int
  /// The number of bytes from ``valueStart`` on that the page itself holds.
  let storedSize: Int
  /// The child page, in a branch.
  package let child: UInt64

  /// Reads the node at `offset`, whose header must be within the page; returns `nil` if the node
  /// goes beyond the page.
  package init?(
    at offset: Int, in page: ByteView, isLeaf: Bool, pageSize: Int, _ format: PageFormat
  ) {
    let low = UInt64(page.uint32(at: offset + PageLayout.nodeValueSize))
    let flags = page.uint16(at: offset + PageLayout.nodeFlags)
    let keyStart = offset + PageLayout.nodeHeaderSize
    let keyEnd = keyStart + Int(page.uint16(at: offset + PageLayout.nodeKeySize))
    let isElsewhere = flags & NodeFlag.isLarge != 0
    storedSize = !isLeaf ? 0 : isElsewhere ? format.overflowReferenceSize : Int(low)
    valueStart = keyStart + format.valueOffset(behindKeyOf: keyEnd - keyStart)
    guard valueStart <= pageSize, storedSize <= pageSize - valueStart else { return nil }
    // Nodes begin at even offsets, so an unused byte follows a node of odd size.
    end = (valueStart + storedSize + 1) & ~1
    guard end <= pageSize else { return nil }
    self.offset = offset
    self.flags = isLeaf ? flags : 0
    keyRange = keyStart..<keyEnd
    dataSize = Int(low)
    child = low | UInt64(flags) << PageLayout.childLowBits
  }
}
