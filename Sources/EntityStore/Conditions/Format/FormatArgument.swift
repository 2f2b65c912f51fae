internal import LodestoreFormat

/// The value of a mark such as `%@` or `%K` in a format string, or of a `$variable`.
enum FormatArgument: Sendable, Hashable {
  /// A constant, which is never parsed as part of the format.
  case value(Value)
  /// A list for the right side of `IN` and `BETWEEN`.
  case list([Value])
  /// A key path such as `license.type`, for `%K` and for variables.
  case path(String)
}

extension FormatArgument {
  /// Returns the arguments of a format string, in their order.
  static func arguments(_ values: [any Sendable]) throws(StoreError) -> [FormatArgument] {
    var arguments: [FormatArgument] = []
    for (index, value) in values.enumerated() {
      arguments.append(try FormatArgument(value, "argument \(index + 1)"))
    }
    return arguments
  }

  /// Converts a Swift value.
  ///
  /// - Parameter label: the name of the argument in an error.
  /// - Throws: ``StoreError/Code/invalidQuery`` for a value that no attribute can hold.
  init(_ value: any Sendable, _ label: String) throws(StoreError) {
    if let constant = Self.constant(value) {
      self = .value(constant)
    } else if let list = value as? any AttributeList {
      self = .list(list.constants)
    } else if value is any RangeExpression {
      // A range may have more elements than memory can hold, and its elements are not all values
      // between its bounds.
      throw .badQuery("\(label) is a range; give its bounds, as in BETWEEN { %@, %@ }")
    } else if let list = value as? any Collection, !(value is any ExpressibleByDictionaryLiteral) {
      self = .list(try Self.constants(list, label))
    } else {
      throw Self.unknown(value, label)
    }
  }

  private static func constants(
    _ list: any Collection, _ label: String
  ) throws(StoreError) -> [Value] {
    var constants: [Value] = []
    for element in list {
      guard let constant = constant(element) else { throw unknown(element, label) }
      constants.append(constant)
    }
    return constants
  }

  private static func constant(_ value: Any) -> Value? {
    if let value = value as? any AttributeValue { return ConditionConstant.value(value) }
    if let text = value as? any StringProtocol { return .string(String(text)) }
    if let character = value as? Character { return .string(String(character)) }
    if let value = value as? any RawRepresentable {
      return (value.rawValue as? any AttributeValue).map { ConditionConstant.value($0) }
    }
    guard let optional = value as? any OptionalValue else { return nil }
    return optional.wrapped.map { constant($0 as Any) } ?? .null
  }

  private static func unknown(_ value: Any, _ label: String) -> StoreError {
    .badQuery(
      "\(label) is of type \(type(of: value)), which no attribute has; give a value of an attribute, an "
        + "enumeration with a raw value, or an array of them")
  }
}

/// A collection of values of one attribute type, which is converted without checking the type of
/// each element.
private protocol AttributeList {
  var constants: [Value] { get }
}

extension Array: AttributeList where Element: AttributeValue {
  var constants: [Value] { ConditionConstant.values(self) }
}

extension Set: AttributeList where Element: AttributeValue {
  var constants: [Value] { ConditionConstant.values(Array(self)) }
}
