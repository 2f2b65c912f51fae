import LodestoreBytes

extension KeyDecoder {
  /// Whether a complete element is null.
  @inline(__always)
  package static func isNull(_ element: ByteView) -> Bool {
    element.first ?? KeyCode.null == KeyCode.null
  }

  /// Whether a complete element is not-a-number.
  package static func isNaN(_ element: ByteView) -> Bool {
    switch element.first {
    case KeyCode.double?, KeyCode.date?:
      element.count == 9 && element.bigEndianUInt64(at: 1) == OrderedWord.word(Double.nan)
    case KeyCode.decimal?: element.count == 2 && element[1] == DecimalClass.nan
    default: false
    }
  }

  /// The integer, or the Boolean as an integer, in a complete element; `nil` for other values.
  @inline(__always)
  package static func integer(_ element: ByteView) -> Int128? {
    guard let code = element.first else { return nil }
    switch code {
    case KeyCode.lowestInteger...KeyCode.highestInteger:
      var magnitude: UInt64 = 0
      for byte in element.dropFirst() { magnitude = magnitude << 8 | UInt64(byte) }
      if code >= KeyCode.zero { return Int128(magnitude) }
      // The bytes of a negative integer are inverted.
      return Int128(magnitude) - (Int128(1) << Int128((element.count - 1) * 8)) + 1
    case KeyCode.false: return 0
    case KeyCode.true: return 1
    default: return nil
    }
  }

  /// The binary floating-point number in a complete element; `nil` for other values.
  @inline(__always)
  package static func double(_ element: ByteView) -> Double? {
    guard element.first == KeyCode.double, element.count == 9 else { return nil }
    return OrderedWord.double(element.bigEndianUInt64(at: 1))
  }
}
