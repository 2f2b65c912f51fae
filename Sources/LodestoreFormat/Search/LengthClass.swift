/// The lengths of texts in classes, for the bounds of blocks of postings.
///
/// See Format.md, "Postings". Up to 15 words, each length is a class. Above, an octave has 8 classes.
package enum LengthClass {
  /// The class of a length of at most 65,535.
  @inline(__always)
  package static func of(_ length: UInt16) -> UInt8 {
    if length < 16 { return UInt8(length) }
    let octave = 13 &- length.leadingZeroBitCount
    return UInt8(octave &* 8) | UInt8(truncatingIfNeeded: length &>> UInt16(octave &- 1) & 7)
  }

  /// The least length of a class.
  @inline(__always)
  package static func least(_ number: UInt8) -> UInt16 {
    if number < 16 { return UInt16(number) }
    return (8 | UInt16(number & 7)) &<< (UInt16(number &>> 3) &- 1)
  }
}
