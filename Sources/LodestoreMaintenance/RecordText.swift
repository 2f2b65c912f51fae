internal import EntityStore
internal import LodestoreBytes
internal import LodestoreEssentials
internal import LodestoreFormat
internal import LodestoreJSON

/// Converts stored values to the text of an export, in the form that `kvdump export` writes.
struct RecordText {
  private var strings = JSONWriter()

  // MARK: JSON

  /// Appends a value as JSON from which an import reads an equal value.
  mutating func append(json value: Value, to bytes: inout [UInt8]) throws(FormatError) {
    if let object = try ExactJSON.text(of: value) {
      bytes += object.utf8
      return
    }
    switch value {
    case .null: bytes += "null".utf8
    case .bool(let flag): bytes += (flag ? "true" : "false").utf8
    case .integer(let number): bytes += "\(number)".utf8
    case .unsigned(let number): bytes += "\(number)".utf8
    case .double(let number):
      if number.isFinite {
        bytes += "\(number)".utf8
      } else {
        append(string: Self.text(ofInfinite: number), to: &bytes)
      }
    case .decimal(let decimal):
      if Self.isNumber(decimal) {
        bytes += decimal.text.utf8
      } else {
        append(string: Self.text(of: decimal), to: &bytes)
      }
    case .date: append(string: KeyText.text(of: value), to: &bytes)
    case .uuid(let uuid): append(string: uuid.text, to: &bytes)
    case .string(let text): append(string: text, to: &bytes)
    case .data(let data): append(string: Data(data).base64EncodedString(), to: &bytes)
    case .document(let document):
      try document._withBytes { (document) throws(FormatError) in
        try DocumentText.append(document, to: &bytes)
      }
    }
  }

  /// Appends a JSON string.
  mutating func append(string: String, to bytes: inout [UInt8]) {
    strings.removeAll()
    strings.string(string)
    bytes += strings.bytes
  }

  /// Whether JSON readers read the number exactly.
  ///
  /// Many readers refuse or round an integer of more than 64 bits, or a number that is too large or
  /// too small for a double.
  private static func isNumber(_ decimal: DecimalValue) -> Bool {
    guard !decimal.isNaN else { return false }
    let text = decimal.text
    if text.utf8.count > 18, text.utf8.allSatisfy({ $0 != 0x2E && $0 != 0x65 }) { return false }
    guard let number = Double(text) else { return false }
    return !number.isInfinite && (number != 0 || decimal.significand == 0)
  }

  // MARK: Separated values

  /// The field for a value; `nil` for null.
  static func field(of value: Value) throws(FormatError) -> String? {
    switch value {
    case .null: return nil
    case .bool(let flag): return flag ? "true" : "false"
    case .double(let number): return number.isFinite ? "\(number)" : text(ofInfinite: number)
    case .decimal(let decimal): return text(of: decimal)
    case .data(let data): return Data(data).base64EncodedString()
    case .document(let document):
      return try document._withBytes { (document) throws(FormatError) in
        try field(ofDocument: document)
      }
    case .integer, .unsigned, .date, .uuid, .string: return KeyText.text(of: value)
    }
  }

  private static func field(ofDocument document: ByteView) throws(FormatError)
    -> String?
  {
    var reader = DocumentReader(document)
    switch try reader.kind() {
    case .null: return nil
    case .text: return try reader.string()
    case .double:
      let number = try reader.double()
      return number.isFinite ? "\(number)" : text(ofInfinite: number)
    default:
      var bytes: [UInt8] = []
      try DocumentText.append(document, to: &bytes)
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  private static func text(of decimal: DecimalValue) -> String {
    decimal.isNaN ? "NaN" : decimal.text
  }

  private static func text(ofInfinite number: Double) -> String {
    number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity"
  }

  /// A field as RFC 4180 writes it.
  ///
  /// Null is empty, and the empty text is two quotes.
  static func quoted(_ field: String?) -> String {
    guard let field else { return "" }
    let needsQuotes =
      field.isEmpty || field.utf8.first == 0x20 || field.utf8.last == 0x20
      || field.utf8.contains { $0 == 0x22 || $0 == 0x2C || $0 == 0x0A || $0 == 0x0D }
    return needsQuotes ? "\"\(field.replacing("\"", with: "\"\""))\"" : field
  }
}
