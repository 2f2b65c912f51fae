internal import LodestoreBytes
internal import LodestoreFormat

// MARK: - Numbers

extension ConditionParser {
  /// Returns the token as a number, with the given sign.
  mutating func number(isNegative: Bool) throws(FormatFault) -> Value {
    let mark = token
    let digits = bytes(of: token)
    try advance()
    switch Self.magnitude(digits) {
    case .integer(let magnitude) where !isNegative: return .integer(unsigned: magnitude)
    case .integer(let magnitude) where magnitude <= 1 << 63:
      return .integer(Int64(truncatingIfNeeded: 0 &- magnitude))
    case .integer, .tooLarge:
      throw fault(at: mark, "an integer of 64 bits, or CAST(\"…\", \"decimal\")")
    case .wrongDigit: throw fault(at: mark, "digits of the number's base")
    case .decimal: break
    }
    let value = JSONNumber.double(digits)
    guard value.isFinite, value != 0 || !JSONNumber.isNonzero(digits) else {
      throw fault(at: mark, "a number that a double can hold")
    }
    return .double(isNegative ? -value : value)
  }

  private enum Magnitude { case integer(UInt64), tooLarge, wrongDigit, decimal }

  private static func magnitude(_ digits: ByteView) -> Magnitude {
    var base: UInt64 = 10
    if digits.count > 2, digits[0] == UInt8(ascii: "0") {
      switch digits[1] | 0x20 {
      case UInt8(ascii: "x"): base = 16
      case UInt8(ascii: "o"): base = 8
      case UInt8(ascii: "b"): base = 2
      default: break
      }
    }
    var result: UInt64 = 0
    var overflows = false
    var at = base == 10 ? 0 : 2
    while at < digits.count {
      guard let digit = FormatLexer.hexDigit(digits[at]), digit < base else {
        return base == 10 ? .decimal : .wrongDigit
      }
      let product = result.multipliedReportingOverflow(by: base)
      let sum = product.partialValue.addingReportingOverflow(digit)
      overflows = overflows || product.overflow || sum.overflow
      result = sum.partialValue
      at += 1
    }
    return overflows ? .tooLarge : .integer(result)
  }
}

// MARK: - Strings

extension ConditionParser {
  /// Returns the token as a string, joined with string tokens that directly follow.
  mutating func string() throws(FormatFault) -> String {
    let first = try content()
    guard case .string = token.kind else { return first }
    var bytes = Array(first.utf8)
    while case .string = token.kind { bytes.append(contentsOf: try content().utf8) }
    return String(decoding: bytes, as: UTF8.self)
  }

  private mutating func content() throws(FormatFault) -> String {
    let mark = token
    try advance()
    let range = (mark.start + 1)..<(mark.end - 1)
    guard mark.kind == .string(hasEscapes: true) else {
      return String(decoding: text[range], as: UTF8.self)
    }
    return try unescaped(range)
  }

  private func unescaped(_ range: Range<Int>) throws(FormatFault) -> String {
    var result: [UInt8] = []
    result.reserveCapacity(range.count)
    var at = range.lowerBound
    while at < range.upperBound {
      guard text[at] == UInt8(ascii: "\\") else {
        result.append(text[at])
        at += 1
        continue
      }
      let scalar = try escape(&at, range.upperBound)
      result.append(contentsOf: UTF8.encode(scalar).map(Array.init) ?? [])
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Returns the scalar of an escape, and moves `at` from its backslash to the byte after it.
  private func escape(_ at: inout Int, _ end: Int) throws(FormatFault) -> Unicode.Scalar {
    let start = at
    at += 2
    let letter = text[start + 1]
    switch letter {
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"): return Unicode.Scalar(letter)
    case UInt8(ascii: "0")...UInt8(ascii: "7"):
      at -= 1
      if let value = digits(&at, end, 1...3, base: 8), value <= 0xFF,
        let scalar = Unicode.Scalar(value)
      {
        return scalar
      }
    case UInt8(ascii: "x"):
      if let value = digits(&at, end, 2...2, base: 16), let scalar = Unicode.Scalar(value) {
        return scalar
      }
    case UInt8(ascii: "u"):
      if let scalar = unicode(&at, end) { return scalar }
    default: break
    }
    while at < end, text[at] & 0xC0 == 0x80 { at += 1 }
    throw fault(
      from: start, to: at, #"an escape: \n \t \r \" \' \\ \ooo (to \377) \xhh or \uhhhh"#)
  }

  /// Returns the scalar of `\uhhhh`, or of two of them that form a surrogate pair.
  private func unicode(_ at: inout Int, _ end: Int) -> Unicode.Scalar? {
    guard let first = digits(&at, end, 4...4, base: 16) else { return nil }
    guard 0xD800...0xDBFF ~= first else { return Unicode.Scalar(first) }
    guard at + 2 <= end, text[at] == UInt8(ascii: "\\"), text[at + 1] == UInt8(ascii: "u")
    else { return nil }
    at += 2
    guard let second = digits(&at, end, 4...4, base: 16), 0xDC00...0xDFFF ~= second
    else { return nil }
    return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
  }

  private func digits(
    _ at: inout Int, _ end: Int, _ allowed: ClosedRange<Int>, base: UInt32
  ) -> UInt32? {
    var value: UInt32 = 0
    var found = 0
    while at < end, found < allowed.upperBound,
      let digit = FormatLexer.hexDigit(text[at]), digit < base
    {
      value = value * base + UInt32(digit)
      found += 1
      at += 1
    }
    return found >= allowed.lowerBound ? value : nil
  }
}

extension FormatLexer {
  static func hexDigit(_ byte: UInt8) -> UInt64? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte) - 0x30
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte) - 0x57
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(byte) - 0x37
    default: nil
    }
  }
}
