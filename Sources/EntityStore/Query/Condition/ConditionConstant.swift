internal import LMDB
internal import LodestoreFormat

/// Swift values as constants of conditions.
enum ConditionConstant {
  /// A scalar of JSON is that scalar, since JSON attributes compare as what they hold.
  static func value<V: AttributeValue>(_ value: V) -> Value {
    // The type is checked first: casting each of many values would cost more than the rest.
    if V.self == JSONValue.self || V.self == JSONValue?.self, let json = value as? JSONValue {
      return scalar(json)
    }
    return value._storedValue.value
  }

  /// The constants of many values; their texts are prefetched.
  static func values<V: AttributeValue>(_ list: [V]) -> [Value] {
    HeldTexts.map(list) { value($0) }
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
