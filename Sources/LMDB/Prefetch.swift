import CLMDB

/// Asks the processor to have `byteCount` bytes at `address` in the cache soon.
///
/// Keys in the order of a sort lie anywhere in memory: asked for some ahead, the wait for them is
/// gone, which was half of the time of writing an index. An address without memory does no harm.
package func prefetch(_ address: UnsafeRawPointer, byteCount: Int) {
  var offset = 0
  while offset < byteCount {
    lodestore_prefetch(address + offset)
    offset &+= 64
  }
  lodestore_prefetch(address + max(0, byteCount &- 1))
}

/// Asks for the texts that a value in memory holds.
///
/// Nothing is read but the value itself. Two words that look like a text that Swift keeps elsewhere
/// (its length under the flags of its kind, then its address) lead to it; should a text ever be laid
/// out otherwise, or other words look so, only time is lost.
package func prefetchTexts(of value: UnsafeRawPointer, byteCount: Int) {
  var word = value.loadUnaligned(as: UInt64.self)
  var offset = 8
  while offset &+ 8 <= byteCount {
    let next = value.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    // Kept by Swift itself, behind its object's header; some 47 bits are an address.
    if word &>> 48 & 0x3fff == 0x3000, next &>> 47 == 0, next > 0xffff,
      let object = UnsafeRawPointer(bitPattern: UInt(truncatingIfNeeded: next))
    {
      prefetch(object + 32, byteCount: min(Int(truncatingIfNeeded: word & 0xffff_ffff), 512))
    }
    word = next
    offset &+= 8
  }
}
