internal import LMDB
internal import LodestoreFormat

/// Converts Swift values to constants of conditions.
enum ConditionConstant {
  /// Returns the constant for a value.
  ///
  /// A scalar in a JSON value becomes that scalar, since conditions compare a JSON attribute by the
  /// value it holds.
  static func value<V: AttributeValue>(_ value: V) -> Value {
    // The type is checked first: casting each of many values would cost more than the conversion.
    if V.self == JSONValue.self || V.self == JSONValue?.self, let json = value as? JSONValue {
      return scalar(json)
    }
    return value._storedValue.value
  }

  /// Returns the constants for many values, prefetching their texts.
  static func values<V: AttributeValue>(_ list: [V]) -> [Value] {
    StringPrefetch.map(list) { value($0) }
  }

  private static func scalar(_ json: JSONValue) -> Value {
    switch json {
    case .null: .null
    case .bool(let flag): .bool(flag)
    case .integer(let number): .integer(number)
    case .unsigned(let number): .integer(unsigned: number)
    case .double(let number): .double(number)
    case .string(let text): .string(text)
    case .array, .object: json._storedValue.value
    }
  }
}

extension Operand {
  /// Whether the operand is a constant or a list of constants.
  var isConstant: Bool {
    switch self {
    case .value, .values: true
    default: false
    }
  }

  /// The constant, or the constants of a list; `nil` for another operand.
  var constants: [Value]? {
    switch self {
    case .value(let value): [value]
    case .values(let values): values
    default: nil
    }
  }
}

extension Comparison {
  /// The comparison with its sides exchanged, if only the left side is constant.
  var withConstantOnTheRight: Comparison {
    guard left.isConstant, !right.isConstant, let flipped = `operator`.flipped else { return self }
    return Comparison(right, flipped, left, options: options, quantifier: quantifier)
  }
}

extension Comparison.Operator {
  /// The operator for exchanged sides; `nil` if none exists.
  var flipped: Comparison.Operator? {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    default: nil
    }
  }
}
