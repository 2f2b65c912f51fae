internal import LodestoreBytes
internal import LodestoreEssentials
internal import LodestoreFormat

/// Converts constants for CAST when a format string is parsed.
enum ConstantCast {
  /// The type named by the second argument of CAST.
  struct Name {
    var type: CastType
    /// Whether the type is `NSNumber`: an integer if the constant is one, otherwise a double.
    var isAnyNumber = false

    init?(_ text: String) {
      guard let type = Self.table[text.lowercased()] else { return nil }
      self.type = type
      isAnyNumber = text.lowercased() == "nsnumber"
    }

    static let known =
      CastType.allCases.map(\.rawValue) + [
        "NSNumber", "NSDecimalNumber", "NSString", "NSDate", "NSUUID", "NSData",
      ]

    private static let table: [String: CastType] = {
      var table: [String: CastType] = [
        "int": .integer, "int64": .integer, "uint64": .integer, "nsnumber": .double,
        "float": .double, "nsdecimalnumber": .decimal, "nsstring": .string, "nsdate": .date,
        "nsuuid": .uuid, "nsdata": .data,
      ]
      for type in CastType.allCases { table[type.rawValue] = type }
      return table
    }()
  }

  /// Converts `value` to the type; returns `nil` if the value cannot be converted.
  ///
  /// Null stays null in every type.
  static func convert(_ value: Value, to name: Name) -> Value? {
    if value == .null { return value }
    if name.isAnyNumber, let integer = exactInteger(value) { return integer }
    switch name.type {
    case .integer: return integer(value)
    // All NaNs become one, since text does not distinguish them.
    case .double: return double(value).map { .double($0.isNaN ? .nan : $0) }
    case .decimal: return decimal(value).map(Value.decimal)
    case .string: return string(value).map(Value.string)
    case .date: return date(value).map(Value.date)
    case .uuid: return uuid(value)
    case .data: return data(value)
    case .json: return json(value)
    }
  }

  /// Describes the values that can be converted to the type, for errors.
  static func expectation(of name: Name) -> String {
    switch name.type {
    case .integer: "an integer of 64 bits or its text"
    case .double: "a number or its text"
    case .decimal: "a decimal number of at most 38 digits or its text"
    case .string: "a value that has a text"
    case .date: "a date as ISO 8601 text, or seconds since 2001-01-01"
    case .uuid: "a UUID as text"
    case .data: "Base64 text"
    case .json: "JSON text"
    }
  }

  // MARK: Numbers

  private static func exactInteger(_ value: Value) -> Value? {
    switch value {
    case .integer, .unsigned: value
    case .bool(let flag): .integer(flag ? 1 : 0)
    case .string(let text): Value(text: text, as: .int64) ?? Value(text: text, as: .uint64)
    default: nil
    }
  }

  /// Returns an integer, which for other numbers is the part before the point.
  private static func integer(_ value: Value) -> Value? {
    if let integer = exactInteger(value) { return integer }
    switch value {
    case .double(let number), .date(let number):
      let whole = number.rounded(.towardZero)
      return Int64(exactly: whole).map(Value.integer)
        ?? UInt64(exactly: whole).map { .integer(unsigned: $0) }
    case .decimal(let decimal): return integer(decimal)
    default: return nil
    }
  }

  private static func integer(_ decimal: DecimalValue) -> Value? {
    guard !decimal.isNaN else { return nil }
    var magnitude = decimal.significand
    // A decimal has at most 38 digits: after 40 steps a division has reached zero, and a
    // multiplication has overflowed.
    for _ in 0..<min(abs(Int(decimal.exponent)), 40) where magnitude > 0 {
      if decimal.exponent < 0 {
        magnitude /= 10
      } else {
        let product = magnitude.multipliedReportingOverflow(by: 10)
        guard !product.overflow else { return nil }
        magnitude = product.partialValue
      }
    }
    guard let small = UInt64(exactly: magnitude) else { return nil }
    if !decimal.isNegative { return .integer(unsigned: small) }
    return small <= 1 << 63 ? .integer(Int64(truncatingIfNeeded: 0 &- small)) : nil
  }

  private static func double(_ value: Value) -> Double? {
    switch value {
    case .bool(let flag): flag ? 1 : 0
    case .integer(let number): Double(number)
    case .unsigned(let number): Double(number)
    case .double(let number), .date(let number): number
    case .decimal(let decimal): Double(decimal.text)
    case .string(let text):
      if case .double(let number) = Value(text: text, as: .double) { number } else { nil }
    default: nil
    }
  }

  private static func decimal(_ value: Value) -> DecimalValue? {
    switch value {
    case .decimal(let decimal): decimal
    case .integer(let number): DecimalValue(text: String(number))
    case .unsigned(let number): DecimalValue(text: String(number))
    case .double(let number): DecimalValue(text: number.description)
    case .string(let text): DecimalValue(text: text)
    default: nil
    }
  }

  // MARK: Other types

  private static func string(_ value: Value) -> String? {
    switch value {
    case .null: nil
    case .data(let bytes): Data(bytes).base64EncodedString()
    case .document: jsonText(value)
    default: KeyText.text(of: value)
    }
  }

  private static func date(_ value: Value) -> Double? {
    switch value {
    case .date(let seconds), .double(let seconds): seconds
    case .integer(let seconds): Double(seconds)
    case .unsigned(let seconds): Double(seconds)
    case .string(let text):
      if case .date(let seconds) = Value(text: text, as: .date) { seconds } else { nil }
    default: nil
    }
  }

  private static func uuid(_ value: Value) -> Value? {
    switch value {
    case .uuid: value
    case .string(let text): Value(text: text, as: .uuid)
    default: nil
    }
  }

  private static func data(_ value: Value) -> Value? {
    switch value {
    case .data: value
    case .string(let text): Value(text: text, as: .data)
    case .uuid(let uuid): .data(uuid.bytes)
    default: nil
    }
  }

  /// Returns the value as JSON.
  ///
  /// Text must be JSON; other text is an error, not a JSON string.
  private static func json(_ value: Value) -> Value? {
    let json: JSONValue? =
      switch value {
      case .document: nil
      case .bool(let flag): .bool(flag)
      case .integer(let number): .integer(number)
      case .unsigned(let number): .unsigned(number)
      case .double(let number): number.isFinite ? .double(number) : nil
      case .string(let text): try? JSONValue(parsing: text)
      default: nil
      }
    if case .document = value { return value }
    guard let json else { return nil }
    var writer = DocumentWriter()
    do { try json.write(to: &writer) } catch { return nil }
    return .document(writer.bytes)
  }

  /// Returns the JSON text of a document, or `nil` for other values and damaged documents.
  static func jsonText(_ value: Value) -> String? {
    guard case .document(let document) = value else { return nil }
    var text: [UInt8] = []
    do { try document._withBytes { try DocumentText.append($0, to: &text) } } catch { return nil }
    return String(decoding: text, as: UTF8.self)
  }
}
