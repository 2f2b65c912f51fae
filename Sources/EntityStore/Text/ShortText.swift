/// Texts of at most fifteen ASCII bytes, which Swift keeps in the string itself.
///
/// `String(decoding:as:)` takes 20 ns for one, in four calls that look at its bytes; half of the texts
/// of real records are that short. Such a string is its bytes, then a byte that says how many (Swift's
/// ABI: the small form of `_StringObject`). Whether that is so is asked of the standard library itself,
/// once and for every length; where a bit differs, all texts are made as others are.
enum ShortText {
  /// The most bytes of a text that is made here.
  static let longest = 15

  /// Whether strings are as ``words(_:_:)`` says.
  static let isUsable: Bool = {
    guard MemoryLayout<String>.size == MemoryLayout<Words>.size, MemoryLayout<Int>.size == 8,
      1.littleEndian == 1
    else { return false }
    return (0...longest).allSatisfy(isAsExpected)
  }()

  private typealias Words = (UInt64, UInt64)

  private static func isAsExpected(_ count: Int) -> Bool {
    let bytes = (0..<count).map { UInt8(0x7F - $0) } + [0]
    let text = String(decoding: bytes.dropLast(), as: UTF8.self)
    let kept = withUnsafeBytes(of: text) { $0.load(as: Words.self) }
    return bytes.withUnsafeBytes { bytes in
      bytes.baseAddress.flatMap { words($0, count) }.map { $0 == kept } ?? false
    }
  }

  /// The text of `count` bytes, of which there are not more than ``longest``; `nil` where one is not
  /// ASCII.
  ///
  /// Only where it ``isUsable``.
  @inline(__always)
  static func text(_ bytes: UnsafeRawPointer, _ count: Int) -> String? {
    guard var words = words(bytes, count) else { return nil }
    // Moved: a copy would be counted, though there is nothing to count.
    return withUnsafeMutablePointer(to: &words) {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: String.self).move()
    }
  }

  @inline(__always)
  private static func words(_ bytes: UnsafeRawPointer, _ count: Int) -> Words? {
    var low: UInt64 = 0
    var high: UInt64 = 0
    let bits = UInt64(truncatingIfNeeded: count &* 8)
    // Where two words overlap they say the same.
    if count >= 8 {
      low = bytes.loadUnaligned(as: UInt64.self)
      // Of eight bytes nothing is left: the shift is by all bits.
      high = (bytes + (count &- 8)).loadUnaligned(as: UInt64.self) >> (128 &- bits)
    } else if count >= 4 {
      low = UInt64(bytes.loadUnaligned(as: UInt32.self))
      low |= UInt64((bytes + (count &- 4)).loadUnaligned(as: UInt32.self)) &<< (bits &- 32)
    } else if count > 0 {
      let middle = count &>> 1
      low = UInt64(bytes.load(as: UInt8.self))
      low |=
        UInt64((bytes + middle).load(as: UInt8.self)) &<< UInt64(truncatingIfNeeded: middle &* 8)
      low |= UInt64((bytes + (count &- 1)).load(as: UInt8.self)) &<< (bits &- 8)
    }
    guard (low | high) & 0x8080_8080_8080_8080 == 0 else { return nil }
    return (low, high | 0xE0 &<< 56 | bits &<< 53)
  }
}
