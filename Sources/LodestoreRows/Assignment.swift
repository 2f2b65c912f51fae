package import EntityStore
package import LodestoreFormat

/// An assignment to one attribute, as a person writes it: `license=MIT`, or `stars:=stars + 1`.
///
/// The right side stays text here, because only the store's schema knows the attribute's type.
package struct Assignment: Equatable, Sendable {
  package let attribute: String
  package let text: String
  /// Whether the right side is an expression in the notation of format strings, and not a constant.
  package let isExpression: Bool

  /// Splits at the first equals sign.
  ///
  /// The value may be empty, but the name may not be empty.
  package init?(_ argument: String) {
    guard let sign = argument.firstIndex(of: "=") else { return nil }
    var name = argument[..<sign]
    isExpression = name.last == ":"
    if isExpression { name.removeLast() }
    guard !name.isEmpty else { return nil }
    attribute = String(name)
    text = String(argument[argument.index(after: sign)...])
  }

  /// The assignment in the library's form, checked except for rules that need a record.
  ///
  /// - Parameter attribute: the one with the assignment's name.
  /// - Throws: ``AssignmentError``, or `StoreError` for names that are no attributes.
  package func bound(
    as attribute: EntityDescription.Attribute, of entity: DynamicEntity,
    in snapshot: DynamicSnapshot
  ) throws -> DynamicAssignment {
    guard isExpression else {
      return DynamicAssignment(attribute.name, value: try TypedText.value(text, of: attribute))
    }
    let assignment: DynamicAssignment
    do {
      assignment = try DynamicAssignment(attribute.name, expression: text)
    } catch {
      throw AssignmentError.badExpression(self, error)
    }
    try snapshot.check(assignment, of: entity)
    return assignment
  }
}

/// The reason why a typed text cannot be assigned to an attribute.
package enum AssignmentError: Error {
  /// The text has another form than values of the attribute.
  case badValue(String, attribute: String, expectation: String)
  /// The attribute is never null.
  case nullInRequired(String, EntityDescription.Attribute)
  /// The right side cannot be parsed as an expression.
  case badExpression(Assignment, StoreError)

  /// The reason without the text, as a clause about the attribute.
  package var reason: String {
    switch self {
    case .badValue(_, _, let expectation): "must be \(expectation)"
    case .nullInRequired(_, let attribute):
      "is required and is never null; it must be \(attribute.type.expectation)"
    case .badExpression(_, let error): "has an expression that cannot be parsed: \(error.message)"
    }
  }
}

/// Values typed by a person.
package enum TypedText {
  /// Converts a text to a value that can be assigned to an attribute.
  package static func value(
    _ text: String, of attribute: EntityDescription.Attribute
  ) throws(AssignmentError) -> Value {
    let value = try comparable(text, to: attribute)
    guard value != .null || attribute.isOptional else {
      throw .nullInRequired(text, attribute)
    }
    return value
  }

  /// Converts a text to the type of an attribute.
  ///
  /// `null` is null, except for attributes with text, where it is a text.
  package static func comparable(
    _ text: String, to attribute: EntityDescription.Attribute
  ) throws(AssignmentError) -> Value {
    if text == "null", attribute.type != .string, attribute.type != .url { return .null }
    guard let value = Value(text: text, as: attribute.type), !isOverflow(value, text) else {
      throw .badValue(text, attribute: attribute.name, expectation: attribute.type.expectation)
    }
    if !attribute.type.isIndexable, let first = text.first, "{[\"".contains(first),
      (try? JSONDocument.parsing(text.utf8)) == nil
    {
      throw .badValue(
        text, attribute: attribute.name,
        expectation: "JSON, which it begins as, or text that does not begin so")
    }
    return value
  }

  /// Whether the typed number is too large for its type.
  ///
  /// A number that is too large is not read as infinity.
  private static func isOverflow(_ value: Value, _ text: String) -> Bool {
    guard case .double(let number) = value, number.isInfinite else { return false }
    return text.contains { $0.isNumber }
  }
}
