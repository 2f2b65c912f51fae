internal import LodestoreEssentials
package import LodestoreFormat

extension Value {
  /// Reads text typed by a person as a value of `type`; `nil` when the text does not fit.
  ///
  /// The spelling is that of JSON, without quotes. For JSON attributes, text that is not valid JSON
  /// becomes a string.
  package init?(text: String, as type: AttributeType) {
    let value: Value? =
      switch type {
      case .bool: text == "true" ? .bool(true) : text == "false" ? .bool(false) : nil
      case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .recordID:
        (Int64(text).map(Value.integer) ?? UInt64(text).map { .integer(unsigned: $0) })
          .flatMap { $0.fits(type) ? $0 : nil }
      case .float, .double:
        (Self.notFinite(text) ?? Self.nearest(text, type)).map(Value.double)
      case .date:
        ISO8601Text.date(text).map { .date($0.timeIntervalSinceReferenceDate) }
      case .uuid: UUIDBytes(text: text).map(Value.uuid)
      case .decimal: DecimalValue(text: text).map(Value.decimal)
      case .string, .url: .string(text)
      case .data: Data(base64Encoded: text).map { .data(Array($0)) }
      case .json, .document: Self.document(text)
      }
    guard let value else { return nil }
    self = value
  }

  private static func document(_ text: String) -> Value? {
    let value = (try? JSONValue(parsing: text)) ?? .string(text)
    var writer = DocumentWriter()
    do { try value.write(to: &writer) } catch { return nil }
    return .document(writer.bytes)
  }

  /// The number of the floating-point `type` nearest to `text`; `nil` when the text is no number or
  /// is out of the type's range.
  private static func nearest(_ text: String, _ type: AttributeType) -> Double? {
    guard let value = type == .float ? Float(text).map(Double.init) : Double(text) else {
      return nil
    }
    let digits = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
      .filter { (0x30...0x39).contains($0) }
    guard value.isFinite || digits.isEmpty else { return nil }
    return value == 0 && digits.contains { $0 != UInt8(ascii: "0") } ? nil : value
  }

  static func notFinite(_ text: String) -> Double? {
    switch text {
    case "NaN": .nan
    case "Infinity": .infinity
    case "-Infinity": -.infinity
    default: nil
    }
  }
}

extension AttributeType {
  /// The JSON value that an attribute of this type requires, in words.
  package var expectation: String {
    switch self {
    case .bool: "true or false"
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64:
      "an integer that fits \(name)"
    case .recordID: "a record id, an integer from 1 to \(Int64.max)"
    case .float, .double: "a number that fits \(name)"
    case .date: "a date as ISO 8601 text"
    case .uuid: "a UUID as text"
    case .decimal: "a decimal number of at most 38 digits"
    case .string: "a string"
    case .url: "a URL as text"
    case .data: "Base64 text"
    case .json, .document: "JSON"
    }
  }
}
