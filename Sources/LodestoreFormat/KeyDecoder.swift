import LodestoreBytes

/// Reads the elements of a tuple in an index key.
///
/// See Format.md, "Index keys".
///
/// The decoder is strict: it refuses every encoding that ``KeyEncoder`` does not write, so
/// different keys never yield equal values. No input makes the decoder trap. The bytes must outlive
/// the decoder.
///
/// A cut tuple yields its first elements. After these the decoder throws, or returns a text that
/// the record does not have. Check ``isCut(tuple:)`` first.
package struct KeyDecoder {
  private let bytes: ByteView
  /// The start of the next element.
  package private(set) var offset = 0

  /// Decodes a tuple.
  ///
  /// `bytes` must not include the record id that may follow it in a key.
  package init(_ bytes: ByteView) { self.bytes = bytes }

  package var isAtEnd: Bool { offset >= bytes.count }

  /// Whether `tuple`, without a record id, was cut.
  package static func isCut(tuple: ByteView) -> Bool { tuple.count == KeyEncoder.cutLength }

  /// The record id at the end of `key`; `nil` if the key is too short to have one.
  package static func recordIDSuffix(_ key: ByteView) -> UInt64? {
    key.count >= 8 ? key.bigEndianUInt64(at: key.count - 8) : nil
  }

  /// The id of the record that an index entry refers to; `nil` if the entry is too short to hold
  /// one.
  package static func recordID(
    ofEntry key: ByteView, _ value: ByteView, isUnique: Bool
  ) -> UInt64? {
    guard isUnique else { return recordIDSuffix(key) }
    return value.count == 8 ? value.uint64(at: 0) : nil
  }

  /// The id at the beginning of a key of an index over ids; `nil` for null and for invalid forms.
  ///
  /// An id with a leading zero byte is an invalid form, because a search for the id would not find
  /// that key.
  package static func leadingID(_ key: ByteView) -> UInt64? {
    guard let code = key.first, code > KeyCode.zero, code <= KeyCode.highestInteger else {
      return nil
    }
    let count = Int(code - KeyCode.zero)
    guard key.count > count, key[1] != 0 else { return nil }
    return key[1...count].reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Whether the first value of `key` is null.
  package static func beginsWithNull(_ key: ByteView) -> Bool { key.first == KeyCode.null }

  /// The number of bytes that ``leadingID(_:)`` occupies in a key that begins with an id.
  package static func lengthOfLeadingID(_ key: ByteView) -> Int {
    key.first.map { Int($0) - Int(KeyCode.zero) + 1 } ?? 0
  }

  /// Whether the first elements of `key` are `elements`, given as the bytes of complete elements.
  ///
  /// Equal bytes alone are not enough: in a text that continues with a zero, 255 follows the zero.
  package static func isElements(_ elements: [UInt8], atBeginningOf key: ByteView) -> Bool {
    guard key.count >= elements.count else { return false }
    let isEqual = elements._withBytes { $0.elementsEqual(key[..<$0.count]) }
    return isEqual && (key.count == elements.count || key[elements.count] != 255)
  }

  /// The number of bytes of the first elements of `key`; `nil` if it has fewer complete elements.
  package static func lengthOfBeginning(of key: ByteView, elementCount: Int) -> Int? {
    var decoder = KeyDecoder(key)
    for _ in 0..<elementCount {
      do { _ = try decoder.next() } catch { return nil }
    }
    return decoder.offset
  }

  /// The first values of `key`.
  ///
  /// The last value is the beginning of a text, or the bytes of the rest, if its element is
  /// incomplete or invalid.
  package static func values(atBeginningOf key: ByteView, most: Int) -> [Value] {
    var decoder = KeyDecoder(key)
    var values: [Value] = []
    while values.count < most, !decoder.isAtEnd {
      let start = decoder.offset
      do {
        values.append(try decoder.next())
      } catch {
        let rest = key[start...]
        guard rest.first == KeyCode.text else {
          values.append(.data(Array(rest)))
          break
        }
        var text = String(decoding: rest.dropFirst(), as: UTF8.self)
        // The cut may divide a character.
        while text.last == "\u{FFFD}" { text.removeLast() }
        values.append(.string(text))
        break
      }
    }
    return values
  }

  /// The end of the element at `start`, found without decoding it; `nil` if the element is
  /// incomplete.
  ///
  /// The element may still be invalid in other ways.
  package static func endOfElement(in key: ByteView, at start: Int) -> Int? {
    guard start >= 0, start < key.count else { return nil }
    let code = key[start]
    let size: Int
    switch code {
    case KeyCode.null, KeyCode.false, KeyCode.true: size = 1
    case KeyCode.lowestInteger...KeyCode.highestInteger:
      size = 1 + abs(Int(code) - Int(KeyCode.zero))
    case KeyCode.double, KeyCode.date: size = 9
    case KeyCode.uuid: size = 17
    case KeyCode.data, KeyCode.text:
      var offset = start + 1
      while offset < key.count {
        if key[offset] == 0, offset + 1 == key.count || key[offset + 1] != 255 { return offset + 1 }
        offset += 1
      }
      return nil
    default:
      var decoder = KeyDecoder(key[start...])
      do { _ = try decoder.next() } catch { return nil }
      return start + decoder.offset
    }
    return start + size <= key.count ? start + size : nil
  }

  /// Decodes the next element.
  ///
  /// After an error the offset is unspecified.
  package mutating func next() throws(FormatError) -> Value {
    let start = offset
    let code = try byte()
    switch code {
    case KeyCode.null: return .null
    case KeyCode.false: return .bool(false)
    case KeyCode.true: return .bool(true)
    case KeyCode.zero: return .integer(0)
    case KeyCode.lowestInteger..<KeyCode.zero:
      return try negativeInteger(byteCount: Int(KeyCode.zero - code), start)
    case KeyCode.zero...KeyCode.highestInteger:
      return try positiveInteger(byteCount: Int(code - KeyCode.zero), start)
    case KeyCode.double: return .double(try ordered(start))
    case KeyCode.date: return .date(try ordered(start))
    case KeyCode.uuid:
      let high = try word()
      return .uuid(UUIDBytes(high: high, low: try word()))
    case KeyCode.decimal: return .decimal(try decimal(start))
    case KeyCode.data: return .data(try terminated(start))
    case KeyCode.text:
      if let plain = plainASCII() { return .string(plain) }
      let bytes = try terminated(start)
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw FormatError("a text in an index key is not valid UTF-8", .keyText, at: start)
      }
      guard bytes._withBytes({ Normalization.isNFC($0) }) else {
        throw FormatError("a text in an index key is not in NFC", .keyNFC, at: start)
      }
      return .string(text)
    default:
      throw FormatError(
        "an index key has code 0x\(String(code, radix: 16)), which is none that is listed",
        .keyCode,
        at: start)
    }
  }
}

extension KeyDecoder {
  private mutating func byte() throws(FormatError) -> UInt8 {
    guard offset < bytes.count else {
      throw FormatError("an index key ends within an element", .keyComplete, at: offset)
    }
    defer { offset += 1 }
    return bytes[offset]
  }

  private mutating func word() throws(FormatError) -> UInt64 {
    guard bytes.count - offset >= 8 else {
      throw FormatError("an index key ends within an element", .keyComplete, at: offset)
    }
    defer { offset += 8 }
    return bytes.bigEndianUInt64(at: offset)
  }

  private mutating func integer(byteCount: Int) throws(FormatError) -> UInt64 {
    var value: UInt64 = 0
    for _ in 0..<byteCount { value = value << 8 | UInt64(try byte()) }
    return value
  }

  private func requireShortest(
    _ magnitude: UInt64, byteCount: Int, _ start: Int
  ) throws(FormatError) {
    guard magnitude >> UInt64(byteCount * 8 - 8) != 0 else {
      throw FormatError(
        "an integer in an index key is not in its fewest bytes", .keyInteger, at: start)
    }
  }

  private mutating func positiveInteger(byteCount: Int, _ start: Int) throws(FormatError) -> Value {
    let value = try integer(byteCount: byteCount)
    try requireShortest(value, byteCount: byteCount, start)
    return .integer(unsigned: value)
  }

  private mutating func negativeInteger(byteCount: Int, _ start: Int) throws(FormatError) -> Value {
    let stored = try integer(byteCount: byteCount)
    let magnitude = (UInt64.max >> UInt64(64 - byteCount * 8)) - stored
    try requireShortest(magnitude, byteCount: byteCount, start)
    guard magnitude <= Int64.min.magnitude else {
      throw FormatError("an integer in an index key is below -2^63", .keyInteger, at: start)
    }
    return .integer(Int64(truncatingIfNeeded: 0 &- magnitude))
  }

  private mutating func ordered(_ start: Int) throws(FormatError) -> Double {
    let stored = try word()
    let value = OrderedWord.double(stored)
    guard OrderedWord.word(value) == stored else {
      throw FormatError(
        "a NaN or zero in an index key is not in its one form", .keyFloat, at: start)
    }
    return value
  }

  /// Reads a text that is ASCII without zeros, the most frequent form; for any other text returns
  /// `nil` and reads nothing.
  private mutating func plainASCII() -> String? {
    var end = offset
    while end < bytes.count, bytes[end] != 0 {
      if bytes[end] >= 0x80 { return nil }
      end += 1
    }
    guard end < bytes.count, end + 1 == bytes.count || bytes[end + 1] != 0xff else { return nil }
    defer { offset = end + 1 }
    return String(decoding: bytes[offset..<end], as: UTF8.self)
  }

  private mutating func terminated(_ start: Int) throws(FormatError) -> [UInt8] {
    var result: [UInt8] = []
    while true {
      let next = try byte()
      if next == 0 {
        guard offset < bytes.count, bytes[offset] == 0xff else { return result }
        offset += 1
      }
      result.append(next)
    }
  }

  private mutating func decimal(_ start: Int) throws(FormatError) -> DecimalValue {
    let kind = try byte()
    switch kind {
    case DecimalClass.zero: return DecimalValue(isNegative: false, exponent: 0, significand: 0)
    case DecimalClass.nan: return .nan
    case DecimalClass.negative, DecimalClass.positive: break
    default:
      throw FormatError(
        "a decimal in an index key has class \(kind), must be 1 to 4", .keyDecimal, at: start)
    }
    let inversion: UInt8 = kind == DecimalClass.negative ? 0xff : 0
    let scaleHigh = Int(try byte() ^ inversion)
    let scale = (scaleHigh << 8 | Int(try byte() ^ inversion)) - DecimalClass.scaleBias
    var significand: UInt128 = 0
    var digitCount = 0
    var digit: UInt8 = 0
    while true {
      let next = try byte() ^ inversion
      if next == 0 { break }
      digit = next - 1
      let (shifted, isTooLong) = significand.multipliedReportingOverflow(by: 10)
      let (sum, isTooLarge) = shifted.addingReportingOverflow(UInt128(digit))
      guard digit <= 9, digitCount > 0 || digit != 0, !isTooLong, !isTooLarge else {
        throw FormatError("a decimal in an index key has impossible digits", .keyDecimal, at: start)
      }
      significand = sum
      digitCount += 1
    }
    guard digitCount > 0, digit != 0, let exponent = Int16(exactly: scale - digitCount),
      DecimalValue.exponents.contains(exponent)
    else {
      throw FormatError(
        "a decimal in an index key is not in its canonical form", .keyDecimal, at: start)
    }
    return DecimalValue(
      isNegative: kind == DecimalClass.negative, exponent: exponent, significand: significand)
  }
}
