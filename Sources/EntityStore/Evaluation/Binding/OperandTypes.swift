internal import LodestoreFormat

/// The kinds of an expression's values, where they are known before a record is read.
enum OperandTypes {
  enum Kind: Hashable {
    case null, bool, number, date, uuid, text, data
    /// A list, or a collection in a document.
    case list
    /// A value in a document, whose kind is known only from the record.
    case any

    var words: String {
      switch self {
      case .null: "null"
      case .bool: "a Boolean"
      case .number: "a number"
      case .date: "a date"
      case .uuid: "a UUID"
      case .text: "a string"
      case .data: "data"
      case .list: "a list"
      case .any: "JSON"
      }
    }
  }

  /// Returns `comparison` with its text constants parsed as the type of the other side.
  ///
  /// Throws if the two sides can never be compared.
  static func fitted(
    _ comparison: BoundComparison, _ source: Comparison, _ binding: ConditionBinding
  ) throws(StoreError) -> BoundComparison {
    var result = comparison
    let left = kind(comparison.left)
    let right = kind(comparison.right)
    let quantified = comparison.quantifier != nil
    switch comparison.operator {
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
      if quantified { return result }
      if let (a, b) = try read(comparison, left, right) {
        (result.left, result.right) = (a, b)
        return result
      }
      guard areComparable(left, right) else {
        throw .cannotCompare(left.words, right.words, comparison.text)
      }
    case .between:
      guard case .list(let bounds) = comparison.right, bounds.count == 2 else {
        throw .badQuery("BETWEEN takes a list of two in '\(comparison.text)'")
      }
      for bound in bounds where !quantified && !areComparable(left, kind(bound)) {
        throw .cannotCompare(left.words, kind(bound).words, comparison.text)
      }
    case .in:
      guard right == .list || right == .any || right == .text && (left == .text || left == .any)
      else { throw .cannotCompare(left.words, right.words, comparison.text) }
    case .contains:
      guard left == .list || left == .any || quantified || left == .text && right.canBeText else {
        throw .cannotCompare(left.words, right.words, comparison.text)
      }
    case .beginsWith, .endsWith, .like, .matches:
      guard left.canBeText || quantified, right.canBeText else {
        throw .cannotCompare(left.words, right.words, comparison.text)
      }
    case .search, .searchAny, .searchPrefix, .within, .near:
      throw .badQuery("a search stands alone, as a condition on the record: '\(comparison.text)'")
    }
    return result
  }

  /// Returns the two sides, with a text constant parsed as a date or UUID if the other side is one;
  /// otherwise `nil`.
  private static func read(
    _ comparison: BoundComparison, _ left: Kind, _ right: Kind
  ) throws(StoreError) -> (BoundOperand, BoundOperand)? {
    func reading(_ text: String, _ kind: Kind) throws(StoreError) -> BoundOperand? {
      guard let type: AttributeType = kind == .date ? .date : kind == .uuid ? .uuid : nil else {
        return nil
      }
      guard let value = Value(text: text, as: type) else {
        throw .unreadableConstant(comparison.text, type.expectation, position: nil)
      }
      return .value(value)
    }
    if case .value(.string(let text)) = comparison.right, let value = try reading(text, left) {
      return (comparison.left, value)
    }
    if case .value(.string(let text)) = comparison.left, let value = try reading(text, right) {
      return (value, comparison.right)
    }
    return nil
  }

  private static func areComparable(_ a: Kind, _ b: Kind) -> Bool {
    a == b || a == .any || b == .any || a == .null || b == .null
      || [a, b].allSatisfy { $0 == .bool || $0 == .number }
  }

  static func kind(_ operand: BoundOperand) -> Kind {
    switch operand {
    case .value(let value): kind(value)
    case .document: .any
    case .list: .list
    case .attribute(let attribute, let steps): kind(attribute.type, steps)
    case .element(_, let steps): kind(steps)
    case .arithmetic(let op, let a, let b): kind(op, kind(a), kind(b))
    case .negative: .number
    case .conditional(_, let yes, let no): kind(yes) == kind(no) ? kind(yes) : .any
    case .subquery(_, _, let steps): steps.isEmpty ? .list : kind(steps)
    case .cast(_, let type): kind(type)
    case .call(let function, _): kind(function)
    case .datePart(let part, _, _): part.isDate ? .date : .number
    case .related(let related): kind(related.question)
    case .score, .distance: .number
    }
  }

  /// Returns the kind of a sum or difference: of dates and seconds a date, of two dates a number of
  /// seconds.
  private static func kind(_ op: ArithmeticOperator, _ a: Kind, _ b: Kind) -> Kind {
    guard op == .add || op == .subtract, a == .date || b == .date else { return .number }
    if a == .any || b == .any { return .any }
    return op == .subtract && b == .date ? .number : .date
  }

  private static func kind(_ question: RelatedOperand.Question) -> Kind {
    switch question {
    case .count: .number
    case .aggregate(.sum, _), .aggregate(.avg, _), .aggregate(.count, _): .number
    case .aggregate(_, let inner), .value(let inner): kind(inner)
    case .list: .list
    }
  }

  static func kind(_ value: Value) -> Kind {
    switch value {
    case .null: .null
    case .bool: .bool
    case .integer, .unsigned, .double, .decimal: .number
    case .date: .date
    case .uuid: .uuid
    case .string: .text
    case .data: .data
    case .document: .any
    }
  }

  private static func kind(_ type: AttributeType, _ steps: [ValuePath.Step]) -> Kind {
    switch type {
    case .bool: .bool
    case .date: .date
    case .uuid: .uuid
    case .string, .url: .text
    case .data: .data
    case .json, .document: kind(steps)
    default: .number
    }
  }

  private static func kind(_ steps: [ValuePath.Step]) -> Kind {
    switch steps.last {
    case .size, .aggregate(.count): .number
    default: .any
    }
  }

  private static func kind(_ type: CastType) -> Kind {
    switch type {
    case .integer, .double, .decimal: .number
    case .string: .text
    case .date: .date
    case .uuid: .uuid
    case .data: .data
    case .json: .any
    }
  }

  private static func kind(_ function: OperandFunction) -> Kind {
    switch function {
    case .uppercase, .lowercase, .canonical: .text
    case .length, .count, .abs, .floor, .ceiling, .trunc, .sqrt, .onesComplement: .number
    case .sum, .average: .number
    case .min, .max: .any
    case .now, .startOfYear, .startOfQuarter, .startOfMonth, .startOfWeek, .startOfDay,
      .startOfHour:
      .date
    case .year, .quarter, .month, .weekYear, .week, .dayOfYear, .day, .weekday, .hour, .minute,
      .second:
      .number
    }
  }
}

extension OperandTypes.Kind {
  var canBeText: Bool { self == .text || self == .any || self == .null }
}
