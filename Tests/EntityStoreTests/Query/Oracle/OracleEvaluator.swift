import Foundation

@testable import EntityStore
@testable import LodestoreFormat

/// The meaning of a condition on one record, written from the documentation of `ConditionTree` and
/// `Condition`, independently of the store's evaluation.
///
/// This is the oracle of random conditions.
struct OracleEvaluator {
  struct Unsupported: Error { let what: String }

  /// The declarations of the SUBQUERYs around an operand, outermost first.
  typealias Scope = [(name: String, element: Fact)]

  func evaluate(
    _ tree: ConditionTree, on record: FactRecord, _ scope: Scope = []
  ) throws -> Bool {
    switch tree {
    case .constant(let value): value
    case .all(let parts): try parts.allSatisfy { try evaluate($0, on: record, scope) }
    case .any(let parts): try parts.contains { try evaluate($0, on: record, scope) }
    case .not(let part): try !evaluate(part, on: record, scope)
    case .comparison(let comparison): try evaluate(comparison, on: record, scope)
    case .closure(let closure): throw Unsupported(what: closure.text)
    }
  }

  private func evaluate(
    _ comparison: Comparison, on record: FactRecord, _ scope: Scope
  ) throws -> Bool {
    let left = try fact(comparison.left, record, scope)
    let right = try fact(comparison.right, record, scope)
    // For quantifiers, a scalar is a collection of one element, and null is an empty collection.
    let elements = left.elements ?? (left.isNull ? [] : [left])
    switch comparison.quantifier {
    case nil: return try compare(left, comparison, right)
    case .any?: return try elements.contains { try compare($0, comparison, right) }
    case .all?: return try elements.allSatisfy { try compare($0, comparison, right) }
    }
  }

  private func compare(_ left: Fact, _ comparison: Comparison, _ right: Fact) throws -> Bool {
    let options = comparison.options
    switch comparison.operator {
    case .equal: return try isEqual(left, right, options)
    case .notEqual: return try !isEqual(left, right, options)
    case .between:
      guard let bounds = right.elements, bounds.count == 2 else {
        throw Unsupported(what: "BETWEEN")
      }
      return try isOrdered(left, .greaterOrEqual, bounds[0], options)
        && isOrdered(left, .lessOrEqual, bounds[1], options)
    case .in:
      if let elements = right.elements {
        return try elements.contains { try isEqual(left, $0, options) }
      }
      return try isOrdered(right, .contains, left, options)
    case .contains:
      if let elements = left.elements {
        return try elements.contains { try isEqual($0, right, options) }
      }
      return try isOrdered(left, .contains, right, options)
    default: return try isOrdered(left, comparison.operator, right, options)
    }
  }

  private func isEqual(_ a: Fact, _ b: Fact, _ options: TextOptions) throws -> Bool {
    switch (a, b) {
    case (.value(.null), .value(.null)): true
    case (.value(.null), _), (_, .value(.null)): false
    case (.value, .value): try isOrdered(a, .equal, b, options)
    case (.list(let a), .list(let b)):
      try a.count == b.count && zip(a, b).allSatisfy { try isEqual($0, $1, options) }
    case (.object(let a), .object(let b)):
      try a.count == b.count
        && a.allSatisfy { name, x in try b[name].map { try isEqual(x, $0, options) } ?? false }
    default: false
    }
  }

  /// A comparison of two scalars; false for collections.
  private func isOrdered(
    _ a: Fact, _ symbol: Comparison.Operator, _ b: Fact, _ options: TextOptions
  ) throws -> Bool {
    guard var a = a.scalar, var b = b.scalar else { return false }
    (a, b) = (number(a), number(b))
    switch (a, b) {
    case (.decimal, .integer(let number)): b = .decimal(DecimalValue(Decimal(number)))
    case (.decimal, .double), (.double, .decimal), (.integer, .decimal):
      throw Unsupported(what: "a decimal and a binary number")
    default: break
    }
    switch symbol {
    case .matches: return try matches(a, b, options)
    case .less: return Self.order(a, b, options) == .orderedAscending
    case .lessOrEqual: return Self.order(a, b, options).map { $0 != .orderedDescending } ?? false
    case .greater: return Self.order(a, b, options) == .orderedDescending
    case .greaterOrEqual: return Self.order(a, b, options).map { $0 != .orderedAscending } ?? false
    default: return ReferenceEvaluator.compare(a, symbol, b, options)
    }
  }

  /// Whether a regular expression matches the text by its scalars, without normalization.
  private func matches(_ text: Value, _ pattern: Value, _ options: TextOptions) throws -> Bool {
    guard case .string(let text) = text, case .string(let pattern) = pattern else { return false }
    let expression = try Regex(pattern).matchingSemantics(.unicodeScalar)
      .ignoresCase(options.contains(.caseInsensitive))
    return try expression.wholeMatch(in: text) != nil
  }

  /// The order of two scalars; `nil` if they have none.
  ///
  /// Texts are ordered by the scalars of their NFC forms. Swift's `<` is no order for texts of
  /// different forms: of "a\u{301}" and "\u{e1}b" neither is below the other.
  static func order(_ a: Value, _ b: Value, _ options: TextOptions) -> ComparisonResult? {
    guard case .string(let left) = a, case .string(let right) = b,
      !options.contains(.normalized)
    else { return ReferenceEvaluator.order(a, b, options) }
    let x = scalars(left, options)
    let y = scalars(right, options)
    if x == y { return .orderedSame }
    return x.lexicographicallyPrecedes(y) ? .orderedAscending : .orderedDescending
  }

  private static func scalars(_ text: String, _ options: TextOptions) -> [UInt32] {
    var folding: String.CompareOptions = []
    if options.contains(.caseInsensitive) { folding.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { folding.insert(.diacriticInsensitive) }
    let folded = folding.isEmpty ? text : text.folding(options: folding, locale: nil)
    return folded.precomposedStringWithCanonicalMapping.unicodeScalars.map(\.value)
  }

  /// Compared with a number, a Boolean is 0 or 1.
  private func number(_ value: Value) -> Value {
    if case .bool(let flag) = value { return .integer(flag ? 1 : 0) }
    return value
  }
}
