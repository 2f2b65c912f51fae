import LodestoreBytes

/// A decimal number as stored: ± significand × 10^exponent.
///
/// See Format.md, "Attribute types".
///
/// The value is always canonical, so equal values have equal bytes: the significand is not
/// divisible by ten unless it is zero, and zero and not-a-number have one form each.
package struct DecimalValue: Sendable, Hashable {
  package private(set) var isNegative: Bool
  package private(set) var isNaN: Bool
  package private(set) var exponent: Int16
  package private(set) var significand: UInt128

  package static let nan = DecimalValue(isNegative: false, isNaN: true, exponent: 0, significand: 0)
  package static let byteCount = 19
  package static let exponents: ClosedRange<Int16> = -16_384...16_383

  private init(isNegative: Bool, isNaN: Bool, exponent: Int16, significand: UInt128) {
    self.isNegative = isNegative
    self.isNaN = isNaN
    self.exponent = exponent
    self.significand = significand
  }

  package init(isNegative: Bool, exponent: Int16, significand: UInt128) {
    guard significand != 0 else {
      self.init(isNegative: false, isNaN: false, exponent: 0, significand: 0)
      return
    }
    var significand = significand
    var exponent = exponent
    while exponent < .max {
      let (quotient, remainder) = significand.quotientAndRemainder(dividingBy: 10)
      guard remainder == 0 else { break }
      significand = quotient
      exponent += 1
    }
    self.init(isNegative: isNegative, isNaN: false, exponent: exponent, significand: significand)
  }

  package var bytes: [UInt8] {
    [isNaN ? 2 : isNegative ? 1 : 0] + littleEndianBytes(exponent) + littleEndianBytes(significand)
  }

  /// Reads 19 bytes at `offset`.
  ///
  /// The caller must have checked that they exist.
  package init(bytes: ByteView, at offset: Int) throws(FormatError) {
    let kind = bytes[offset]
    let exponent = Int16(bitPattern: bytes.uint16(at: offset + 1))
    let low = UInt128(bytes.uint64(at: offset + 3))
    let significand = low | UInt128(bytes.uint64(at: offset + 11)) << 64
    guard kind <= 2 else {
      throw FormatError(
        "a decimal starts with \(kind), must be 0, 1 or 2", .typeDecimal, at: offset)
    }
    if kind == 2 {
      self = .nan
      guard exponent == 0, significand == 0 else {
        throw FormatError(
          "a decimal that is not a number has other bytes set", .typeDecimal, at: offset)
      }
    } else {
      self.init(isNegative: kind == 1, exponent: exponent, significand: significand)
      guard self.exponent == exponent, self.significand == significand,
        Self.exponents.contains(exponent),
        isNegative == (kind == 1)
      else { throw FormatError("a decimal is not in its canonical form", .typeDecimal, at: offset) }
    }
  }

  /// The significand's digits, most significant first; empty for zero and not-a-number.
  package var digits: [UInt8] {
    var result: [UInt8] = []
    var rest = significand
    while rest > 0 {
      let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: 10)
      result.append(UInt8(truncatingIfNeeded: remainder))
      rest = quotient
    }
    return result.reversed()
  }

  /// The nearest double, for comparisons with binary numbers.
  package var nearestDouble: Double {
    isNaN ? .nan : Double("\(isNegative ? "-" : "")\(significand)e\(exponent)") ?? .nan
  }
}
