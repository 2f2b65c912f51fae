import LodestoreBytes

/// Numbers of one width in bits, one after the other, lowest bit first.
///
/// See Format.md, "Postings".
enum BitPacking {
  /// The number of bits that `largest` needs.
  @inline(__always)
  static func width(of largest: UInt64) -> Int { 64 &- largest.leadingZeroBitCount }

  /// The number of bytes of `count` numbers.
  @inline(__always)
  static func byteCount(_ count: Int, width: Int) -> Int { (count &* width &+ 7) &>> 3 }

  /// Appends the width that `count` numbers need, and the numbers.
  ///
  /// - Parameters:
  ///   - leastWidth: the width of numbers that need fewer bits.
  ///   - number: returns the number at an index; called twice for each.
  @inline(__always)
  static func append(
    _ count: Int, leastWidth: Int = 0, to bytes: inout [UInt8], _ number: (Int) -> UInt64
  ) {
    var all: UInt64 = 0
    for index in 0..<count { all |= number(index) }
    let width = max(leastWidth, width(of: all))
    bytes.append(UInt8(width))
    if width > 0 { append(count, width: width, to: &bytes, number) }
  }

  @inline(__always)
  private static func append(
    _ count: Int, width: Int, to bytes: inout [UInt8], _ number: (Int) -> UInt64
  ) {
    var word: UInt64 = 0
    var filled = 0
    for index in 0..<count {
      let number = number(index)
      word |= number &<< UInt64(filled)
      filled &+= width
      if filled >= 64 {
        for byte in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word &>> UInt64(byte &* 8))) }
        filled &-= 64
        // A shift by the whole width gives 0, and not the number itself.
        word = filled == 0 ? 0 : number >> UInt64(width &- filled)
      }
    }
    while filled > 0 {
      bytes.append(UInt8(truncatingIfNeeded: word))
      word &>>= 8
      filled &-= 8
    }
  }

  /// The number at `index` of the numbers that begin at `offset` of `bytes`.
  ///
  /// The caller has checked that the numbers are within `bytes`.
  @inline(__always)
  static func number(at index: Int, in bytes: ByteView, offset: Int, width: Int) -> UInt64 {
    let bit = index &* width
    let start = offset &+ bit &>> 3
    let shift = UInt64(bit & 7)
    if start &+ 8 <= bytes.count, width <= 56 {
      return bytes.uint64(at: start) &>> shift & (1 &<< UInt64(width) &- 1)
    }
    return slowNumber(at: index, in: bytes, offset: offset, width: width)
  }

  /// Calls `body` with the index of each of `count` numbers and the number, in their order.
  ///
  /// The caller has checked that the numbers are within `bytes`.
  @inline(__always)
  static func forEach(
    _ count: Int, in bytes: ByteView, offset: Int, width: Int, _ body: (Int, UInt64) -> Void
  ) {
    var index = 0
    if width == 0 {
      while index < count {
        body(index, 0)
        index &+= 1
      }
      return
    }
    // A load takes 8 bytes, which only the last numbers may lack.
    let room = bytes.count &- 8 &- offset
    let loaded = width <= 56 && room >= 0 ? min(count, (room &* 8 &+ 7) / width &+ 1) : 0
    let mask = (1 as UInt64) &<< UInt64(width) &- 1
    var bit = offset &* 8
    while index < loaded {
      body(index, bytes.uint64(at: bit &>> 3) &>> UInt64(bit & 7) & mask)
      bit &+= width
      index &+= 1
    }
    while index < count {
      body(index, slowNumber(at: index, in: bytes, offset: offset, width: width))
      index &+= 1
    }
  }

  @inline(never)
  private static func slowNumber(
    at index: Int, in bytes: ByteView, offset: Int, width: Int
  ) -> UInt64 {
    let start = offset + (index * width) >> 3
    if width <= 56 {
      // The bytes have the whole number, so those that a word lacks are not needed.
      var word: UInt64 = 0
      for byte in 0..<min(8, bytes.count - start) {
        word |= UInt64(bytes[start + byte]) << UInt64(8 * byte)
      }
      return word >> UInt64(index * width & 7) & (1 << UInt64(width) - 1)
    }
    var number: UInt64 = 0
    for bit in 0..<width {
      let place = index * width + bit
      if bytes[offset + place >> 3] >> UInt8(place & 7) & 1 == 1 { number |= 1 << UInt64(bit) }
    }
    return number
  }
}
