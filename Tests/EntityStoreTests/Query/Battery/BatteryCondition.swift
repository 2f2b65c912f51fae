/// A constant of a condition of the battery.
enum BatteryLiteral: Hashable, Sendable, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral, ExpressibleByBooleanLiteral
{
  case null
  case int(Int)
  case double(Double)
  case text(String)
  case bool(Bool)

  init(integerLiteral value: Int) { self = .int(value) }
  init(floatLiteral value: Double) { self = .double(value) }
  init(stringLiteral value: String) { self = .text(value) }
  init(booleanLiteral value: Bool) { self = .bool(value) }

  /// The literal as both languages write it, except for truth values.
  ///
  /// No text of the battery has a quotation mark.
  var text: String {
    switch self {
    case .null: "NULL"
    case .int(let number): "\(number)"
    case .double(let number): "\(number)"
    case .text(let text): "'\(text)'"
    case .bool(let flag): flag ? "true" : "false"
    }
  }
}

/// A condition of the battery as a tree.
///
/// A condition can be written as a format string and in SQL. ``BestPlan`` sees how an index could
/// serve it.
indirect enum BatteryCondition: Sendable {
  enum Comparison: String, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case atMost = "<="
    case greater = ">"
    case atLeast = ">="
  }

  case compare(String, Comparison, BatteryLiteral)
  case between(String, BatteryLiteral, BatteryLiteral)
  case isIn(String, [BatteryLiteral])
  case begins(String, String)
  case contains(String, String)
  /// A pattern for LIKE in the store and GLOB in SQLite, with `*` for any characters.
  case like(String, String)
  /// A regular expression for the store, and an equivalent GLOB pattern for SQLite.
  case matches(String, String, glob: String)
  /// A condition that no index serves, in both languages.
  case opaque(format: String, sql: String)
  case all([BatteryCondition])
  case any([BatteryCondition])
  case not(BatteryCondition)

  /// The condition as a format string.
  var format: String {
    switch self {
    case .compare(let name, let comparison, let literal):
      "\(name) \(comparison.rawValue) \(literal.text)"
    case .between(let name, let low, let high): "\(name) BETWEEN { \(low.text), \(high.text) }"
    case .isIn(let name, let list):
      "\(name) IN { \(list.map(\.text).joined(separator: ", ")) }"
    case .begins(let name, let text): "\(name) BEGINSWITH '\(text)'"
    case .contains(let name, let text): "\(name) CONTAINS '\(text)'"
    case .like(let name, let pattern): "\(name) LIKE '\(pattern)'"
    case .matches(let name, let pattern, _): "\(name) MATCHES '\(pattern)'"
    case .opaque(let format, _): format
    case .all(let parts):
      parts.isEmpty ? "TRUEPREDICATE" : parts.map(\.nested).joined(separator: " AND ")
    case .any(let parts): parts.map(\.nested).joined(separator: " OR ")
    case .not(let part): "NOT (\(part.format))"
    }
  }

  private var nested: String {
    switch self {
    case .all(let parts) where parts.count > 1: "(\(format))"
    case .any: "(\(format))"
    default: format
    }
  }

  /// The parts that must all be true.
  var conjuncts: [BatteryCondition] {
    if case .all(let parts) = self { return parts.flatMap(\.conjuncts) }
    return [self]
  }

  /// The part of the condition that bounds the entries of an index over `name`.
  ///
  /// Every record that fulfils the condition fulfils this part. `nil` if no part bounds the index.
  func bound(on name: String) -> BatteryCondition? {
    switch self {
    case .compare(name, _, _), .between(name, _, _), .isIn(name, _), .begins(name, _): self
    case .like(name, let pattern): Self.beginning(name, pattern.prefix { $0 != "*" })
    case .matches(name, let pattern, _):
      Self.beginning(name, pattern.prefix { $0.isLetter || $0.isNumber || $0 == " " })
    case .all(let parts): parts.lazy.compactMap { $0.bound(on: name) }.first
    case .any(let parts): Self.any(parts.map { $0.bound(on: name) })
    case .not(let part): part.isRange(of: name) ? self : nil
    default: nil
    }
  }

  private static func beginning(_ name: String, _ text: Substring) -> BatteryCondition? {
    text.isEmpty ? nil : .begins(name, String(text))
  }

  private static func any(_ bounds: [BatteryCondition?]) -> BatteryCondition? {
    let there = bounds.compactMap(\.self)
    return there.count == bounds.count ? .any(there) : nil
  }

  /// Whether the condition only selects ranges of the values of `name`.
  private func isRange(of name: String) -> Bool {
    switch self {
    case .compare(name, _, _), .between(name, _, _), .isIn(name, _): true
    case .all(let parts), .any(let parts): parts.allSatisfy { $0.isRange(of: name) }
    case .not(let part): part.isRange(of: name)
    default: false
    }
  }

  /// Whether the condition allows only single values, and no range.
  var isPoints: Bool {
    switch self {
    case .compare(_, .equal, _), .isIn: true
    case .any(let parts): parts.allSatisfy(\.isPoints)
    default: false
    }
  }

  /// Whether the condition allows only one value.
  var isPoint: Bool {
    if case .compare(_, .equal, _) = self { true } else { false }
  }

  /// Whether the attributes `names` of an index entry are enough to decide the condition.
  func isTold(by names: [String]) -> Bool {
    switch self {
    case .compare(let name, _, _), .between(let name, _, _), .isIn(let name, _),
      .begins(let name, _), .contains(let name, _), .like(let name, _), .matches(let name, _, _):
      name == "_id" || names.contains(name)
    case .opaque: false
    case .all(let parts), .any(let parts): parts.allSatisfy { $0.isTold(by: names) }
    case .not(let part): part.isTold(by: names)
    }
  }
}

/// An attribute, for conditions in the manner of Swift.
struct BatteryField: Sendable {
  let name: String

  init(_ name: String) { self.name = name }

  func isIn(_ list: [BatteryLiteral]) -> BatteryCondition { .isIn(name, list) }
  func isIn(_ range: ClosedRange<Int>) -> BatteryCondition {
    .between(name, .int(range.lowerBound), .int(range.upperBound))
  }
  func begins(_ text: String) -> BatteryCondition { .begins(name, text) }
  func contains(_ text: String) -> BatteryCondition { .contains(name, text) }
  func like(_ pattern: String) -> BatteryCondition { .like(name, pattern) }
  func matches(_ pattern: String, glob: String) -> BatteryCondition {
    .matches(name, pattern, glob: glob)
  }
  var isNull: BatteryCondition { self == .null }
  var isNotNull: BatteryCondition { self != .null }

  static func == (field: Self, literal: BatteryLiteral) -> BatteryCondition {
    .compare(field.name, .equal, literal)
  }
  static func != (field: Self, literal: BatteryLiteral) -> BatteryCondition {
    .compare(field.name, .notEqual, literal)
  }
  static func < (field: Self, literal: BatteryLiteral) -> BatteryCondition {
    .compare(field.name, .less, literal)
  }
  static func <= (field: Self, literal: BatteryLiteral) -> BatteryCondition {
    .compare(field.name, .atMost, literal)
  }
  static func > (field: Self, literal: BatteryLiteral) -> BatteryCondition {
    .compare(field.name, .greater, literal)
  }
  static func >= (field: Self, literal: BatteryLiteral) -> BatteryCondition {
    .compare(field.name, .atLeast, literal)
  }
}

extension BatteryCondition {
  static func && (a: Self, b: Self) -> Self { .all(a.conjuncts + b.conjuncts) }

  static func || (a: Self, b: Self) -> Self {
    if case .any(let parts) = a { return .any(parts + [b]) }
    return .any([a, b])
  }

  static prefix func ! (a: Self) -> Self { .not(a) }
}
