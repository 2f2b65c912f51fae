import CLMDB

/// Asks the processor to have `byteCount` bytes at `address` in the cache soon.
///
/// Keys in the order of a sort lie anywhere in memory: asked for some ahead, the wait for them is
/// gone, which was half of the time of writing an index. An address without memory does no harm. Of what
/// is longer than two kilobytes the beginning is asked for: the rest is read in its order.
package func prefetch(_ address: UnsafeRawPointer, byteCount: Int) {
  let end = min(byteCount, 2_048)
  var offset = 0
  while offset < end {
    lodestore_prefetch(address + offset)
    offset &+= 64
  }
  lodestore_prefetch(address + max(0, end &- 1))
}

/// Texts that values in memory hold, without reading anything but the values themselves.
///
/// Two words that look like a text that Swift keeps elsewhere (its length under the flags of its kind,
/// then its address) lead to it; should a text ever be laid out otherwise, or other words look so, only
/// time is lost.
package enum HeldTexts {
  /// Texts of neighbours that are not farther apart come into the cache by themselves.
  private static let nearby: UInt = 2_048

  /// Asks for the texts of the value of `byteCount` bytes at `value`.
  package static func prefetch(of value: UnsafeRawPointer, byteCount: Int) {
    forEach(in: value, byteCount) { text, count in
      LMDB.prefetch(text, byteCount: min(count, 512))
      return true
    }
  }

  /// Asks for the texts of the value some places behind `place`, and for the counts of their references,
  /// as copies of the value are counted.
  @inline(__always)
  package static func prefetch<V>(behind place: Int, of values: UnsafeBufferPointer<V>) {
    let ahead = place &+ 16
    guard ahead < values.count, let start = values.baseAddress else { return }
    prefetchCounted(UnsafeRawPointer(start + ahead), byteCount: MemoryLayout<V>.size)
  }

  private static func prefetchCounted(_ value: UnsafeRawPointer, byteCount: Int) {
    forEach(in: value, byteCount) { text, count in
      LMDB.prefetch(text - 24, byteCount: min(count &+ 24, 512))
      return true
    }
  }

  /// Whether the first texts of three values in a row lie in their order, close to each other, as those
  /// do that were read one after the other.
  package static func areInOrder(
    from value: UnsafeRawPointer, byteCount: Int, stride: Int
  ) -> Bool {
    let addresses = (first(in: value, byteCount), first(in: value + stride, byteCount))
    let last = first(in: value + 2 * stride, byteCount)
    return addresses.1 &- addresses.0 <= nearby && last &- addresses.1 <= nearby
  }

  /// The address of the first text; 0 where there is none elsewhere.
  private static func first(in value: UnsafeRawPointer, _ byteCount: Int) -> UInt {
    var address: UInt = 0
    forEach(in: value, byteCount) { text, _ in
      address = UInt(bitPattern: text)
      return false
    }
    return address
  }

  @inline(__always)
  private static func forEach(
    in value: UnsafeRawPointer, _ byteCount: Int, _ body: (UnsafeRawPointer, Int) -> Bool
  ) {
    guard byteCount >= 16 else { return }
    var word = value.loadUnaligned(as: UInt64.self)
    var offset = 8
    while offset &+ 8 <= byteCount {
      let next = value.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      // Kept by Swift itself, behind its object's header; some 47 bits are an address.
      if word &>> 48 & 0x3fff == 0x3000, next &>> 47 == 0, next > 0xffff,
        let object = UnsafeRawPointer(bitPattern: UInt(truncatingIfNeeded: next)),
        !body(object + 32, Int(truncatingIfNeeded: word & 0xffff_ffff))
      {
        return
      }
      word = next
      offset &+= 8
    }
  }
}
