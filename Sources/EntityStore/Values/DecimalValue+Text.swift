internal import LodestoreFormat

extension DecimalValue {
  /// Reads plain or scientific notation exactly.
  ///
  /// The result is `nil` when the text is not a number or has too many digits.
  init?(text: String) {
    if text == "NaN" || text == "nan" {
      self = .nan
      return
    }
    var significand: UInt128 = 0
    var exponent = 0
    var hasDigits = false
    var isFraction = false
    var pendingZeros = 0
    var rest = text.utf8[...]
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative { rest.removeFirst() }
    scan: while let byte = rest.first {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        hasDigits = true
        if isFraction { exponent -= 1 }
        if byte == UInt8(ascii: "0") {
          // Zeros are counted, and appended to the significand only when another digit follows.
          // Trailing zeros become part of the exponent, so long runs of zeros do not overflow the
          // significand.
          pendingZeros += significand == 0 ? 0 : 1
        } else {
          for _ in 0...pendingZeros {
            let (product, overflows) = significand.multipliedReportingOverflow(by: 10)
            if overflows { return nil }
            significand = product
          }
          pendingZeros = 0
          let (sum, overflows) = significand.addingReportingOverflow(UInt128(byte - 0x30))
          if overflows { return nil }
          significand = sum
        }
      case UInt8(ascii: ".") where !isFraction: isFraction = true
      default: break scan
      }
      rest.removeFirst()
    }
    guard hasDigits else { return nil }
    exponent += pendingZeros
    if let letter = rest.first, letter | 0x20 == UInt8(ascii: "e") {
      guard let power = Int16(String(decoding: rest.dropFirst(), as: UTF8.self)) else { return nil }
      exponent += Int(power)
      rest = rest[rest.endIndex...]
    }
    guard rest.isEmpty else { return nil }
    if significand == 0 { exponent = 0 }
    guard let stored = Int16(exactly: exponent), Self.exponents.contains(stored) else { return nil }
    self.init(isNegative: isNegative, exponent: stored, significand: significand)
  }
}
