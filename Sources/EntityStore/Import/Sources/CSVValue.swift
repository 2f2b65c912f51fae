internal import LodestoreBytes

/// Conversion of fields of separated values to JSON.
enum CSVValue {
  /// Appends a field as a value of its column's type; returns false when the field does not fit.
  ///
  /// After false, the appended bytes must be discarded.
  static func append(
    _ field: ArraySlice<UInt8>, as type: CSVOptions.ColumnType, to bytes: inout [UInt8]
  ) -> Bool {
    switch type {
    case .text:
      JSONText.appendString(String(decoding: field, as: UTF8.self), to: &bytes)
      return true
    case .boolean: return appendBoolean(field, to: &bytes)
    case .integer, .number:
      let start = bytes.count
      guard let isInteger = appendNumber(field, to: &bytes), isInteger || type == .number else {
        return false
      }
      return bytes._withBytes { isInRange($0[start...], isInteger: isInteger) }
    }
  }

  private static func appendBoolean(_ field: ArraySlice<UInt8>, to bytes: inout [UInt8]) -> Bool {
    // Setting this bit turns a capital letter into a small one.
    let letters = field.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    for (word, isTrue) in [("true", true), ("false", false), ("1", true), ("0", false)]
    where letters.elementsEqual(word.utf8) {
      bytes.append(contentsOf: (isTrue ? "true" : "false").utf8)
      return true
    }
    return false
  }

  /// Appends a number with its own digits, without leading zeros, which JSON forbids.
  ///
  /// - Returns: whether the number has neither a fraction nor an exponent; nil when the field is
  ///   not a number.
  private static func appendNumber(_ field: ArraySlice<UInt8>, to bytes: inout [UInt8]) -> Bool? {
    var rest = field
    if rest.first == 0x2D { bytes.append(rest.removeFirst()) }
    let whole = takeDigits(&rest)
    guard !whole.isEmpty || rest.first == 0x2E else { return nil }
    let significant = whole.drop { $0 == 0x30 }
    bytes.append(contentsOf: significant.isEmpty ? [0x30] : significant)
    if rest.isEmpty { return true }
    if rest.first == 0x2E {
      bytes.append(rest.removeFirst())
      let fraction = takeDigits(&rest)
      guard !fraction.isEmpty else { return nil }
      bytes.append(contentsOf: fraction)
    }
    if rest.first == 0x65 || rest.first == 0x45 {
      bytes.append(rest.removeFirst())
      if rest.first == 0x2B || rest.first == 0x2D { bytes.append(rest.removeFirst()) }
      let exponent = takeDigits(&rest)
      guard !exponent.isEmpty else { return nil }
      bytes.append(contentsOf: exponent)
    }
    return rest.isEmpty ? false : nil
  }

  private static func takeDigits(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let digits = rest.prefix { (0x30...0x39).contains($0) }
    rest = rest[digits.endIndex...]
    return digits
  }

  /// Returns whether the JSON parser accepts the number: an integer of 64 bits, or a double that is
  /// neither infinite nor rounded to zero.
  private static func isInRange(_ text: JSONNumber.Text, isInteger: Bool) -> Bool {
    if isInteger { return JSONNumber.int64(text) != nil || JSONNumber.uint64(text) != nil }
    let value = JSONNumber.double(text)
    return value.isFinite && (value != 0 || !JSONNumber.isNonzero(text))
  }
}
