internal import LodestoreEssentials
package import LodestoreFormat

/// A value that does not fit an attribute's type.
///
/// The description is a clause with the found and the expected value.
package struct ValueMismatch: Error, Sendable, CustomStringConvertible {
  package let description: String

  init(description: String) { self.description = description }
}

extension Value {
  /// Reads a JSON value as a value of `type`, exactly or not at all.
  ///
  /// - Null is null for every type.
  /// - Integer attributes take numbers that are integers (`5.0` is 5).
  /// - Floating-point attributes take integers of 64 bits that they represent exactly, and longer
  ///   integers as the nearest number. The strings `"NaN"`, `"Infinity"` and `"-Infinity"` stand
  ///   for the numbers that JSON does not have.
  /// - Dates are ISO 8601 text, UUIDs their usual text, data Base64 text, decimals a number or its
  ///   text.
  /// - ``ExactJSON`` is the form for values that JSON cannot represent exactly.
  package init(_ node: JSONNode, as type: AttributeType) throws(ValueMismatch) {
    if node.isNull {
      self = .null
      return
    }
    if let value = ExactJSON.value(node, as: type) {
      self = value
    } else if let value = try Self.exact(node, type) {
      self = value
    } else {
      throw ValueMismatch(description: "must be \(type.expectation), found \(Self.shown(node))")
    }
  }

  private static func exact(
    _ node: JSONNode, _ type: AttributeType
  ) throws(ValueMismatch) -> Value? {
    switch type {
    case .bool: return node.bool.map(Value.bool)
    case .int8, .int16, .int32, .int64, .recordID:
      return node.int64.map(Value.integer).flatMap { $0.fits(type) ? $0 : nil }
    case .uint8, .uint16, .uint32, .uint64:
      return node.uint64.map { Value.integer(unsigned: $0) }.flatMap { $0.fits(type) ? $0 : nil }
    case .float, .double: return floatingPoint(node, type).map(Value.double)
    case .decimal:
      return (node.numberText ?? node.string).flatMap { DecimalValue(text: $0) }.map(Value.decimal)
    case .string, .url: return node.string.map(Value.string)
    case .date, .uuid, .data: return node.string.flatMap { Value(text: $0, as: type) }
    case .json, .document:
      if let number = node.wideNumber {
        throw ValueMismatch(
          description: "must be JSON with numbers of 64 bits or in the range of a double, found "
            + shown(number))
      }
      var document = DocumentWriter()
      do { try node.writeDocument(to: &document) } catch {
        throw ValueMismatch(description: "is nested deeper than \(Document.deepestNesting) levels")
      }
      return .document(document.bytes)
    }
  }

  private static func floatingPoint(_ node: JSONNode, _ type: AttributeType) -> Double? {
    switch node.kind {
    case .double:
      guard node.wideNumber == nil else { return nil }
      return nearest(node, type)
    case .integer:
      // Programs write large doubles as integers: JavaScript does so up to 10^21. An integer has no
      // negative zero, unlike a double.
      guard node.wideNumber == nil, node.int64 != 0 else { return nearest(node, type) }
      let whole =
        node.int64.flatMap { Double(exactly: $0) }
        ?? node.uint64.flatMap { Double(exactly: $0) }
      return type == .double ? whole : whole.flatMap { Float(exactly: $0) }.map(Double.init)
    case .string: return node.string.flatMap(notFinite)
    case .null, .bool, .array, .object: return nil
    }
  }

  private static func nearest(_ node: JSONNode, _ type: AttributeType) -> Double? {
    guard let value = node.double, value.isFinite else { return nil }
    if type == .double { return value }
    return narrow(value)
  }

  /// The nearest `Float`; `nil` when the number is out of range, or would become zero.
  private static func narrow(_ value: Double) -> Double? {
    let narrow = Float(value)
    return narrow.isFinite && (narrow != 0 || value == 0) ? Double(narrow) : nil
  }

  /// The nearest number; `nil` when the text is not a number or is out of the type's range.
  private static func nearest(_ text: String, _ type: AttributeType) -> Double? {
    guard let value = type == .float ? Float(text).map(Double.init) : Double(text) else {
      return nil
    }
    let digits = text.utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }
      .filter { (0x30...0x39).contains($0) }
    guard value.isFinite || digits.isEmpty else { return nil }
    return value == 0 && digits.contains { $0 != UInt8(ascii: "0") } ? nil : value
  }

  private static func notFinite(_ text: String) -> Double? {
    switch text {
    case "NaN": .nan
    case "Infinity": .infinity
    case "-Infinity": -.infinity
    default: nil
    }
  }

  /// The description of a value for an error message.
  ///
  /// A number is shown with its digits, because its size may be the fault. A text is only called a
  /// text, because it may be private data.
  private static func shown(_ node: JSONNode) -> String {
    node.numberText.map { "\(node.kindName) \($0.prefix(40))" } ?? node.kindName
  }

  /// A text with its first characters, for messages about a wrong spelling.
  static func messageText(_ node: JSONNode) -> String {
    guard let text = node.string else { return shown(node) }
    let rest = text.count > 40 ? "…" : ""
    return "the string \(ConditionPrinter.quoted(text.prefix(40) + rest))"
  }

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
      case .float, .double: (Self.notFinite(text) ?? Self.nearest(text, type)).map(Value.double)
      case .date: ISO8601Text.date(text).map { .date($0.timeIntervalSinceReferenceDate) }
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
          // Zeros are appended only before another digit, so that long runs of zeros stay exact.
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
