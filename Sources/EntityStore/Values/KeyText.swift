internal import LodestoreBytes
package import LodestoreFormat

/// Formats index keys as text, for messages and `kvdump`.
package enum KeyText {
  /// Returns the values of an index key as text, cut to 64 bytes; for
  /// ``StoreError/debugDescription`` only.
  static func text(_ tuple: ByteView) -> String {
    var decoder = KeyDecoder(tuple)
    var parts: [String] = []
    while !decoder.isAtEnd, let value = try? decoder.next() { parts.append(text(of: value)) }
    return cut(parts.joined(separator: ", "))
  }

  /// Returns a value as text, cut to 64 bytes; for ``StoreError/debugDescription`` only.
  static func detail(of value: Value) -> String {
    if case .data(let bytes) = value { return cut(text(of: .data(Array(bytes.prefix(40))))) }
    return cut(text(of: value))
  }

  private static func cut(_ text: String) -> String {
    text.utf8.count > 64 ? String(text.prefix(60)) + "…" : text
  }

  /// Returns a value as text.
  package static func text(of value: Value) -> String {
    switch value {
    case .null: "null"
    case .bool(let flag): flag ? "true" : "false"
    case .integer(let number): String(number)
    case .unsigned(let number): String(number)
    case .double(let number): number.description
    case .date(let seconds):
      ISO8601Text.text(.init(timeIntervalSinceReferenceDate: seconds)) ?? seconds.description
    case .uuid(let uuid): uuid.text
    case .decimal(let decimal): decimal.text
    case .string(let text): text
    case .data(let bytes): bytes.map { hex($0) }.joined()
    case .document: "(document)"
    }
  }
}

extension DecimalValue {
  /// The number in plain notation for exponents near zero, otherwise in scientific notation.
  package var text: String {
    if isNaN { return "nan" }
    let sign = isNegative ? "-" : ""
    let digits = digits.map { String($0) }.joined()
    guard !digits.isEmpty else { return "0" }
    let exponent = Int(exponent)
    if exponent >= 0, digits.count + exponent <= 40 {
      return sign + digits + String(repeating: "0", count: exponent)
    }
    let point = digits.count + exponent
    if exponent < 0, point > -20 {
      if point <= 0 { return sign + "0." + String(repeating: "0", count: -point) + digits }
      return sign + digits.prefix(point) + "." + digits.dropFirst(point)
    }
    return "\(sign)\(digits)e\(exponent)"
  }
}
