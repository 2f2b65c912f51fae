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
      throw ValueMismatch(description: "must be \(type.expectation), found \(Self.display(node))")
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
            + display(number))
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

  /// The description of a value for an error message.
  ///
  /// A number is shown with its digits, because its size may be the fault. A text is only called a
  /// text, because it may be private data.
  private static func display(_ node: JSONNode) -> String {
    node.numberText.map { "\(node.kindName) \($0.prefix(40))" } ?? node.kindName
  }

  /// A text with its first characters, for messages about a wrong spelling.
  static func messageText(_ node: JSONNode) -> String {
    guard let text = node.string else { return display(node) }
    let rest = text.count > 40 ? "…" : ""
    return "the string \(ConditionPrinter.quoted(text.prefix(40) + rest))"
  }
}
