import LodestoreBytes

/// Reads single scalars from bytes that should be UTF-8.
package enum UTF8Scalar {
  /// The result for a byte that does not start a well-formed sequence.
  ///
  /// No scalar has this value.
  package static let invalid: UInt32 = .max

  /// The scalar at `offset` and the number of its bytes; ``invalid`` and 1 if no well-formed
  /// sequence starts there.
  ///
  /// `offset` must be below the count.
  @inline(__always)
  package static func decode(_ utf8: ByteView, at offset: Int) -> (scalar: UInt32, length: Int) {
    let lead = UInt32(utf8[offset])
    if lead < 0x80 { return (lead, 1) }
    return decodeLong(utf8, at: offset, lead: lead)
  }

  private static func decodeLong(
    _ utf8: ByteView, at offset: Int, lead: UInt32
  ) -> (scalar: UInt32, length: Int) {
    let length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2
    guard lead >= 0xc2, lead <= 0xf4, length <= utf8.count &- offset else { return (invalid, 1) }
    var scalar = lead & (0x7f &>> UInt32(length))
    for index in 1..<length {
      let byte = UInt32(utf8[offset &+ index])
      guard byte & 0xc0 == 0x80 else { return (invalid, 1) }
      scalar = scalar << 6 | byte & 0x3f
    }
    let isWellFormed =
      switch length {
      case 3: scalar >= 0x800 && scalar & 0xffff_f800 != 0xd800
      case 4: scalar >= 0x10000 && scalar <= 0x10ffff
      default: true
      }
    return isWellFormed ? (scalar, length) : (invalid, 1)
  }

  /// Appends the UTF-8 of `scalar`, which must be a valid scalar.
  @inline(__always)
  package static func append(_ scalar: UInt32, to bytes: inout [UInt8]) {
    switch scalar {
    case ..<0x80: bytes.append(UInt8(truncatingIfNeeded: scalar))
    case ..<0x800:
      bytes.append(UInt8(truncatingIfNeeded: 0xc0 | scalar >> 6))
      bytes.append(continuation(scalar))
    case ..<0x10000:
      bytes.append(UInt8(truncatingIfNeeded: 0xe0 | scalar >> 12))
      bytes.append(continuation(scalar >> 6))
      bytes.append(continuation(scalar))
    default:
      bytes.append(UInt8(truncatingIfNeeded: 0xf0 | scalar >> 18))
      bytes.append(continuation(scalar >> 12))
      bytes.append(continuation(scalar >> 6))
      bytes.append(continuation(scalar))
    }
  }

  @inline(__always)
  private static func continuation(_ bits: UInt32) -> UInt8 {
    UInt8(truncatingIfNeeded: 0x80 | bits & 0x3f)
  }
}
