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

/// Asks for what the words of a value may point to, as the texts of a struct.
///
/// Nothing is read but the value itself; a word that is no address does no harm.
package func prefetchReferences(of value: UnsafeRawPointer, byteCount: Int) {
  var offset = 0
  while offset &+ 8 <= byteCount {
    // Without the highest bits, in which texts keep what kind they are.
    let word = value.loadUnaligned(fromByteOffset: offset, as: UInt.self) & 0x0000_ffff_ffff_fff8
    if word > 0xffff, word < 0x0000_8000_0000_0000,
      let address = UnsafeRawPointer(bitPattern: word)
    {
      lodestore_prefetch(address)
      lodestore_prefetch(address + 64)
    }
    offset &+= 8
  }
}
