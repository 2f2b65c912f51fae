internal import LodestoreBytes

/// Creates texts of at most fifteen ASCII bytes, which Swift stores in the string itself.
///
/// `String(decoding:as:)` takes 20 ns for such a text, in four calls that read its bytes. Half of
/// the texts of real records are that short. Such a string consists of its bytes and a byte with
/// their count (the small form of `_StringObject` in Swift's ABI).
///
/// ``isUsable`` compares this representation once, for every length, with strings that the standard
/// library creates. If a bit differs, the library creates all texts.
enum ShortText {
  /// The maximum number of bytes in a text created here.
  static let longest = 15

  /// Whether short strings have the representation of ``words(_:_:)``.
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
    return bytes._withBytes { bytes in
      bytes.baseAddress.flatMap { words($0, count) }.map { $0 == kept } ?? false
    }
  }

  /// Returns the text of `count` bytes, or `nil` if one is not ASCII.
  ///
  /// Call this only if ``isUsable``, and with at most ``longest`` bytes.
  @inline(__always)
  static func text(_ bytes: UnsafeRawPointer, _ count: Int) -> String? {
    guard var words = words(bytes, count) else { return nil }
    // The string is moved, because a copy would retain it needlessly.
    return withUnsafeMutablePointer(to: &words) {
      UnsafeMutableRawPointer($0).assumingMemoryBound(to: String.self).move()
    }
  }

  @inline(__always)
  private static func words(_ bytes: UnsafeRawPointer, _ count: Int) -> Words? {
    var low: UInt64 = 0
    var high: UInt64 = 0
    let bits = UInt64(truncatingIfNeeded: count &* 8)
    // The loads may overlap, with equal bytes in the overlap.
    if count >= 8 {
      low = bytes.loadUnaligned(as: UInt64.self)
      // For a text of eight bytes this shifts by 64 bits, and Swift's `>>` then gives zero.
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
