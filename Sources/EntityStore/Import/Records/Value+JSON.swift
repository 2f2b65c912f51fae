internal import LodestoreEssentials
package import LodestoreFormat

/// A value that an attribute's type does not take: what was found and what must be, as a clause.
package struct ValueMismatch: Error, Sendable, CustomStringConvertible {
  package let description: String

  init(description: String) { self.description = description }
}

extension Value {
  /// Reads a JSON value as one of `type`, exactly or not at all.
  ///
  /// Null is null for every type. Numbers go into integer attributes when they are such an integer
  /// (`5.0` is 5). Integers of 64 bits go into floating-point attributes when those hold them exactly,
  /// and longer ones as the nearest number. Dates are ISO 8601 text, UUIDs their usual text, data
  /// Base64 text, decimals a number or its text. `"NaN"`, `"Infinity"` and `"-Infinity"` are taken
  /// for floating point, because JSON has no number for them, and ``ExactJSON`` for all that JSON
  /// does not hold exactly.
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
      return (node.numberText ?? node.string).flatMap { DecimalValue(text: $0) }
        .map(Value.decimal)
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
      // Programs write large doubles as integers: JavaScript does up to 10^21.
      // An integer has no negative zero, and a double does.
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

  /// The nearest `Float`; `nil` of a number outside of its range, also of one that would be zero.
  private static func narrow(_ value: Double) -> Double? {
    let narrow = Float(value)
    return narrow.isFinite && (narrow != 0 || value == 0) ? Double(narrow) : nil
  }

  /// The nearest number of a text; `nil` of one outside of the type's range, and of no number.
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

  /// A number by its digits, since its size does not fit; a text by its kind alone, since it is the
  /// user's data.
  private static func shown(_ node: JSONNode) -> String {
    node.numberText.map { "\(node.kindName) \($0.prefix(40))" } ?? node.kindName
  }

  /// A text by its first characters, where these are wrong.
  static func told(_ node: JSONNode) -> String {
    guard let text = node.string else { return shown(node) }
    let rest = text.count > 40 ? "…" : ""
    return "the string \(ConditionPrinter.quoted(text.prefix(40) + rest))"
  }

  /// Reads the text that a person typed as a value of `type`; `nil` for any other text.
  ///
  /// As in JSON, without the quotes. For JSON attributes it is JSON where it parses and a string
  /// otherwise.
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
}

extension AttributeType {
  /// The JSON value that an attribute of this type takes, in words.
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
  /// Reads plain or scientific notation, exactly; `nil` when it is neither or has too many digits.
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
          // Zeros count only when another digit follows, so that long runs of them are exact.
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
