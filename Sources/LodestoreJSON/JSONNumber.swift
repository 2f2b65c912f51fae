import LodestoreBytes

/// Converts digits to numbers.
///
/// Every text must have passed the parser.
package enum JSONNumber {
  package typealias Text = ByteView

  /// A number as sign × significand × 10^exponent.
  ///
  /// The significand has no trailing zeros.
  struct Digits {
    var isNegative = false
    var significand: UInt128 = 0
    var exponent = 0
    /// Whether the significand has too many digits.
    ///
    /// If true, only the sign of this value is valid.
    var isTooLong = false
  }

  /// Parses a number exactly, with up to 38 digits, not counting zeros at the beginning and the
  /// end.
  static func digits(_ text: Text) -> Digits {
    var result = Digits()
    var at = 0
    if text[at] == 0x2D {
      result.isNegative = true
      at += 1
    }
    var isFraction = false
    var zeros = 0
    scan: while at < text.count {
      switch text[at] {
      case 0x2E: isFraction = true
      case 0x30:
        zeros += 1
        if isFraction { result.exponent -= 1 }
      case 0x31...0x39:
        if result.significand == 0 { zeros = 0 }
        for _ in 0...min(zeros, 40) { result.multiplyByTen() }
        zeros = 0
        if !result.isTooLong { result.significand += UInt128(text[at] - 0x30) }
        if isFraction { result.exponent -= 1 }
      default: break scan
      }
      at += 1
    }
    result.exponent += result.significand == 0 ? 0 : zeros
    if at < text.count { result.exponent += exponent(text, from: at + 1) }
    if result.significand == 0 && !result.isTooLong { result.exponent = 0 }
    return result
  }

  /// Reads the exponent after `e`.
  ///
  /// An exponent that makes every number overflow or become zero is limited, so that calculations
  /// with it cannot overflow.
  private static func exponent(_ text: Text, from start: Int) -> Int {
    var at = start
    let isNegative = text[at] == 0x2D
    if isNegative || text[at] == 0x2B { at += 1 }
    var value = 0
    while at < text.count {
      value = min(value * 10 + Int(text[at] - 0x30), 1_000_000_000_000)
      at += 1
    }
    return isNegative ? -value : value
  }

  /// The integer by sign and magnitude, if the number is an integer and fits 64 bits.
  ///
  /// `5.0` and `5e3` are integers; the digits decide this, not a double.
  static func integer(_ text: Text) -> (isNegative: Bool, magnitude: UInt64)? {
    if let fast = plainInteger(text) { return fast }
    let digits = digits(text)
    guard !digits.isTooLong, (0...19).contains(digits.exponent) else { return nil }
    var value = digits.significand
    for _ in 0..<digits.exponent {
      guard value <= UInt128(UInt64.max) else { return nil }
      value *= 10
    }
    return UInt64(exactly: value).map { (digits.isNegative, $0) }
  }

  /// Reads an integer of up to 18 digits, which cannot overflow; `nil` for other texts.
  @inline(__always)
  private static func plainInteger(_ text: Text) -> (isNegative: Bool, magnitude: UInt64)? {
    let isNegative = text[0] == 0x2D
    guard text.count <= 18 else { return nil }
    var value: UInt64 = 0
    for at in (isNegative ? 1 : 0)..<text.count {
      let digit = text[at] &- 0x30
      guard digit <= 9 else { return nil }
      value = value &* 10 &+ UInt64(digit)
    }
    return (isNegative, value)
  }

  package static func int64(_ text: Text) -> Int64? {
    integer(text).flatMap { $0.isNegative ? negated($0.magnitude) : Int64(exactly: $0.magnitude) }
  }

  package static func uint64(_ text: Text) -> UInt64? {
    integer(text).flatMap { $0.isNegative && $0.magnitude > 0 ? nil : $0.magnitude }
  }

  private static func negated(_ magnitude: UInt64) -> Int64? {
    magnitude <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
  }

  /// The nearest double; infinite or zero if the number is outside the range.
  package static func double(_ text: Text) -> Double {
    // A double holds a significand up to 2^53 and a power of ten up to 10^22 exactly. One
    // multiplication or division of the two therefore gives the nearest double.
    if text.count <= 17 {
      let digits = digits(text)
      if digits.significand < 1 << 53, (-22...22).contains(digits.exponent) {
        let value = Double(UInt64(digits.significand))
        let scaled =
          digits.exponent < 0
          ? value / powersOfTen[-digits.exponent] : value * powersOfTen[digits.exponent]
        return digits.isNegative ? -scaled : scaled
      }
    }
    return Double(String(decoding: text, as: UTF8.self)) ?? .nan
  }

  /// The nearest float; infinite or zero if the number is outside the range.
  static func float(_ text: Text) -> Float {
    // The text is converted directly: a conversion to a double and then to a float would round
    // twice.
    Float(String(decoding: text, as: UTF8.self)) ?? .nan
  }

  /// Whether a digit before the exponent is not zero.
  package static func isNonzero(_ text: Text) -> Bool {
    for byte in text {
      if byte | 0x20 == 0x65 { return false }
      if (0x31...0x39).contains(byte) { return true }
    }
    return false
  }

  private static let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
  ]
}

extension JSONNumber.Digits {
  /// Multiplies by ten.
  ///
  /// 10^38 is the largest power of ten below 2^127, so adding a digit cannot overflow afterwards.
  fileprivate mutating func multiplyByTen() {
    let limit: UInt128 = 10_000_000_000_000_000_000_000_000_000_000_000_000
    if significand >= limit { isTooLong = true }
    if !isTooLong { significand *= 10 }
  }
}
