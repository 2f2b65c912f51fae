/// Any JSON value, exact for 64-bit integers.
///
/// `==` is structural: the integer `1` and the double `1.0` are different values, as are their
/// texts. Use `unsigned` for values above `Int64.max`. An `unsigned` of a smaller value equals, and
/// hashes like, the `integer` of the same value. Strings compare as Swift's `String` does, by
/// canonical equivalence and not by bytes.
public enum JSONValue: Sendable {
  /// The JSON value `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number written without fraction and exponent.
  case integer(Int64)
  /// An integer above `Int64.max`. For an unsigned integer of any size use `init(_:)`.
  case unsigned(UInt64)
  /// Any other number.
  case double(Double)
  /// A text.
  case string(String)
  /// Values in an order.
  case array([JSONValue])
  /// Values by name.
  case object([String: JSONValue])

  /// Makes the canonical value of an unsigned integer: `integer` if it fits, otherwise `unsigned`.
  public init(_ value: UInt64) {
    self = Int64(exactly: value).map(JSONValue.integer) ?? .unsigned(value)
  }
}

extension JSONValue: Hashable {
  /// Compares kind and content.
  ///
  /// The two integer cases are one kind.
  public static func == (lhs: JSONValue, rhs: JSONValue) -> Bool {
    switch (lhs, rhs) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.unsigned(let a), .unsigned(let b)): a == b
    case (.integer(let a), .unsigned(let b)), (.unsigned(let b), .integer(let a)): a == b
    case (.double(let a), .double(let b)): a == b
    case (.string(let a), .string(let b)): a == b
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    default: false
    }
  }

  /// Hashes kind and content.
  ///
  /// Equal values have equal hashes.
  @_documentation(visibility: internal)
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0 as UInt8)
    case .bool(let value):
      hasher.combine(1 as UInt8)
      hasher.combine(value)
    case .integer(let value):
      hasher.combine(2 as UInt8)
      hasher.combine(UInt64(bitPattern: value))
      hasher.combine(value < 0)
    case .unsigned(let value):
      hasher.combine(2 as UInt8)
      hasher.combine(value)
      hasher.combine(false)
    case .double(let value):
      hasher.combine(3 as UInt8)
      hasher.combine(value)
    case .string(let value):
      hasher.combine(4 as UInt8)
      hasher.combine(value)
    case .array(let value):
      hasher.combine(5 as UInt8)
      hasher.combine(value)
    case .object(let value):
      hasher.combine(6 as UInt8)
      hasher.combine(value)
    }
  }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Makes `null`.
  @_documentation(visibility: internal)
  public init(nilLiteral: ()) { self = .null }
  /// Makes a `bool`.
  @_documentation(visibility: internal)
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Makes an `integer`.
  @_documentation(visibility: internal)
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// Makes a `double`, even if the literal is integral.
  @_documentation(visibility: internal)
  public init(floatLiteral value: Double) { self = .double(value) }
  /// Makes a `string`.
  @_documentation(visibility: internal)
  public init(stringLiteral value: String) { self = .string(value) }
  /// Makes an `array`.
  @_documentation(visibility: internal)
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// Makes an `object`.
  ///
  /// If a key is repeated, its last value counts.
  @_documentation(visibility: internal)
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements, uniquingKeysWith: { _, last in last }))
  }
}

extension JSONValue: CustomStringConvertible {
  /// The compact JSON text, with keys in the order of their UTF-8 bytes.
  ///
  /// Numbers that JSON cannot represent appear as `nan`, `inf` or `-inf`. Values nested deeper than
  /// any reader would accept appear as `…`.
  public var description: String {
    var writer = JSONWriter()
    writer.writeForDisplay(self)
    return writer.text
  }
}
