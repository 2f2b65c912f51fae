import Foundation

@testable import EntityStore
@testable import LodestoreFormat

/// Evaluates conditions directly as the documentation of `ConditionTree` defines them.
///
/// The evaluator is slow. It uses no indexes and no stored bytes, and evaluates parts in the order
/// in which they are written.
///
/// Paths into documents, SUBQUERY and functions throw `Unsupported`.
struct ReferenceEvaluator {
  struct Unsupported: Error { let what: String }

  /// One record: attribute values by name.
  struct Record {
    var id: UInt64
    var values: [String: Value]
  }

  /// The result of a closure for a record.
  var closure: (ConditionClosure, Record) throws -> Bool = { closure, _ in
    throw Unsupported(what: closure.text)
  }

  func evaluate(_ tree: ConditionTree, on record: Record) throws -> Bool {
    switch tree {
    case .constant(let value): value
    case .all(let parts): try parts.allSatisfy { try evaluate($0, on: record) }
    case .any(let parts): try parts.contains { try evaluate($0, on: record) }
    case .not(let part): try !evaluate(part, on: record)
    case .comparison(let comparison): try evaluate(comparison, on: record)
    case .closure(let closure): try self.closure(closure, record)
    }
  }

  private func evaluate(_ comparison: Comparison, on record: Record) throws -> Bool {
    guard comparison.quantifier == nil else { throw Unsupported(what: "ANY and ALL") }
    let left = try scalar(comparison.left, record)
    let options = comparison.options
    switch comparison.operator {
    case .between:
      let bounds = try list(comparison.right, record)
      guard bounds.count == 2 else { throw Unsupported(what: "BETWEEN of \(bounds.count)") }
      return Self.compare(left, .greaterOrEqual, bounds[0], options)
        && Self.compare(left, .lessOrEqual, bounds[1], options)
    case .in:
      if case .value(.string(let text)) = comparison.right {
        return Self.compare(.string(text), .contains, left, options)
      }
      return try list(comparison.right, record).contains {
        left != .null && $0 != .null && Self.compare(left, .equal, $0, options)
      }
    default:
      return Self.compare(
        left, comparison.operator, try scalar(comparison.right, record), options)
    }
  }

  private func scalar(_ operand: Operand, _ record: Record) throws -> Value {
    switch operand {
    case .value(let value): return value
    case .path(let path):
      guard path.root == .record, path.steps.count == 1, case .member(let name)? = path.steps.first
      else { throw Unsupported(what: "\(path)") }
      if name == "_id" { return .integer(unsigned: record.id) }
      guard let value = record.values[name] else { throw Unsupported(what: name) }
      return value
    case .negative(let inner):
      return try arithmetic(.subtract, .integer(0), scalar(inner, record))
    case .arithmetic(let symbol, let a, let b):
      return try arithmetic(symbol, scalar(a, record), scalar(b, record))
    case .conditional(let test, let a, let b):
      return try scalar(evaluate(test, on: record) ? a : b, record)
    default: throw Unsupported(what: "\(operand)")
    }
  }

  private func list(_ operand: Operand, _ record: Record) throws -> [Value] {
    switch operand {
    case .values(let values): values
    case .list(let operands): try operands.map { try scalar($0, record) }
    default: throw Unsupported(what: "\(operand)")
    }
  }

  private func arithmetic(_ symbol: ArithmeticOperator, _ a: Value, _ b: Value) throws -> Value {
    guard case .integer(let a) = a, case .integer(let b) = b else {
      throw Unsupported(what: "arithmetic on other than integers")
    }
    let result: (partialValue: Int64, overflow: Bool)
    switch symbol {
    case .add: result = a.addingReportingOverflow(b)
    case .subtract: result = a.subtractingReportingOverflow(b)
    case .multiply: result = a.multipliedReportingOverflow(by: b)
    case .divide: result = a.dividedReportingOverflow(by: b)
    case .remainder: result = a.remainderReportingOverflow(dividingBy: b)
    case .power, .and, .or, .exclusiveOr, .shiftLeft, .shiftRight:
      throw Unsupported(what: symbol.rawValue)
    }
    guard !result.overflow else { throw Unsupported(what: "overflow") }
    return .integer(result.partialValue)
  }

  // MARK: Values

  /// Whether the comparison of `a` and `b` by the operator is true.
  static func compare(
    _ a: Value, _ operator: Comparison.Operator, _ b: Value, _ options: TextOptions = []
  ) -> Bool {
    switch `operator` {
    case .equal: a == .null || b == .null ? a == b : order(a, b, options) == .some(.orderedSame)
    case .notEqual: !compare(a, .equal, b, options)
    case .less: order(a, b, options) == .some(.orderedAscending)
    case .greater: order(a, b, options) == .some(.orderedDescending)
    case .lessOrEqual: compare(a, .less, b, options) || isSame(a, b, options)
    case .greaterOrEqual: compare(a, .greater, b, options) || isSame(a, b, options)
    case .contains: texts(a, b, options).map { contains($0, $1) } ?? false
    case .beginsWith: texts(a, b, options).map { $0.starts(with: $1) } ?? false
    case .endsWith: texts(a, b, options).map { $0.reversed().starts(with: $1.reversed()) } ?? false
    case .like: texts(a, b, options).map { isLike(Array($0), Array($1)) } ?? false
    case .matches:
      texts(a, b, []).map { text, pattern in
        guard let regex = try? Regex(pattern) else { return false }
        let folding = regex.ignoresCase(options.contains(.caseInsensitive))
        return (try? folding.wholeMatch(in: text)).flatMap { $0 } != nil
      } ?? false
    // Searches and places need an index; their tests compare them with a plain reading.
    case .between, .in, .search, .searchAny, .searchPrefix, .within, .near: false
    }
  }

  private static func isSame(_ a: Value, _ b: Value, _ options: TextOptions) -> Bool {
    order(a, b, options) == .some(.orderedSame)
  }

  /// The order of two values; `nil` for null, for not-a-number, and for values of different kinds.
  static func order(_ a: Value, _ b: Value, _ options: TextOptions = []) -> ComparisonResult? {
    func ordered<T: Comparable>(_ a: T, _ b: T) -> ComparisonResult? {
      a < b ? .orderedAscending : a > b ? .orderedDescending : a == b ? .orderedSame : nil
    }
    switch (a, b) {
    case (.bool(let a), .bool(let b)): return ordered(a ? 1 : 0, b ? 1 : 0)
    case (.date(let a), .date(let b)): return ordered(a, b)
    case (.uuid(let a), .uuid(let b)): return ordered(a.text, b.text)
    case (.data(let a), .data(let b)):
      if a == b { return .orderedSame }
      return a.lexicographicallyPrecedes(b) ? .orderedAscending : .orderedDescending
    case (.string, .string):
      guard let (a, b) = texts(a, b, options) else { return nil }
      if options.contains(.normalized) { return ordered(Bytes(a), Bytes(b)) }
      return ordered(a, b)
    case (.decimal(let a), .decimal(let b)):
      guard !a.isNaN, !b.isNaN, let a = Decimal(a), let b = Decimal(b) else { return nil }
      return ordered(a, b)
    default: return compareNumbers(a, b)
    }
  }

  private static func compareNumbers(_ a: Value, _ b: Value) -> ComparisonResult? {
    switch (a, b) {
    case (.double(let a), .double(let b)):
      a < b ? .orderedAscending : a > b ? .orderedDescending : a == b ? .orderedSame : nil
    case (.double(let a), _):
      integer(b).flatMap { compareMixed(a, $0) }
    case (_, .double(let b)):
      integer(a).flatMap { a in
        compareMixed(b, a).map { ComparisonResult(rawValue: -$0.rawValue) ?? .orderedSame }
      }
    default:
      integer(a).flatMap { a in
        integer(b).map { a < $0 ? .orderedAscending : a > $0 ? .orderedDescending : .orderedSame }
      }
    }
  }

  private static func integer(_ value: Value) -> Int128? {
    switch value {
    case .integer(let value): Int128(value)
    case .unsigned(let value): Int128(value)
    default: nil
    }
  }

  private static func compareMixed(_ a: Double, _ b: Int128) -> ComparisonResult? {
    guard !a.isNaN else { return nil }
    // The number is beyond all 64-bit integers.
    guard abs(a) < 0x1p100 else { return a < 0 ? .orderedAscending : .orderedDescending }
    let whole = Int128(a.rounded(.down))
    if whole < b { return .orderedAscending }
    if whole > b { return .orderedDescending }
    return a > a.rounded(.down) ? .orderedDescending : .orderedSame
  }

  private struct Bytes: Comparable {
    let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }

    static func < (a: Bytes, b: Bytes) -> Bool { a.bytes.lexicographicallyPrecedes(b.bytes) }
  }

  // MARK: Texts

  private static func texts(
    _ a: Value, _ b: Value, _ options: TextOptions
  ) -> (String, String)? {
    guard case .string(let a) = a, case .string(let b) = b else { return nil }
    return (folded(a, options), folded(b, options))
  }

  private static func folded(_ text: String, _ options: TextOptions) -> String {
    var folding: String.CompareOptions = []
    if options.contains(.caseInsensitive) { folding.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { folding.insert(.diacriticInsensitive) }
    return folding.isEmpty ? text : text.folding(options: folding, locale: nil)
  }

  /// Whether a text contains a part, compared by characters as `Predicate.evaluate` does.
  private static func contains<C: Collection>(_ text: C, _ part: C) -> Bool
  where C.Element: Equatable { text.contains(part) }

  private static func isLike(_ text: [Character], _ pattern: [Character]) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    let rest = Array(pattern.dropFirst())
    switch first {
    case "*": return (0...text.count).contains { isLike(Array(text.dropFirst($0)), rest) }
    case "?": return !text.isEmpty && isLike(Array(text.dropFirst()), rest)
    default: return text.first == first && isLike(Array(text.dropFirst()), rest)
    }
  }
}
