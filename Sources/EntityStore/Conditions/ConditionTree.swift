internal import LodestoreFormat

/// A condition on one record as data, the common form of all three ways of writing one.
///
/// Key path operators, `#Predicate` and the format string build it. ``ConditionBinding`` checks it
/// against an entity's schema, for the planner and the evaluator. Conditions have two truth values:
/// a comparison with null is false, except that `==` and `!=` treat null like any other value. NOT
/// turns false into true.
///
/// Create conditions with ``all(of:)``, ``any(of:)`` and ``negated``. Trees from these functions
/// keep the form that ``ConditionPrinter`` prints and the parser returns.
indirect enum ConditionTree: Sendable, Hashable {
  case constant(Bool)
  /// AND of two or more conditions, in the order in which they were written.
  case all([ConditionTree])
  /// OR of two or more conditions.
  case any([ConditionTree])
  case not(ConditionTree)
  case comparison(Comparison)
  /// A Swift closure that is evaluated on the decoded entity.
  case closure(ConditionClosure)

  /// Returns the conjunction of `conditions`; true for an empty array.
  static func all(of conditions: [ConditionTree]) -> ConditionTree {
    conditions.count > 1 ? .all(conditions) : conditions.first ?? .constant(true)
  }

  /// Returns the disjunction of `conditions`; false for an empty array.
  static func any(of conditions: [ConditionTree]) -> ConditionTree {
    conditions.count > 1 ? .any(conditions) : conditions.first ?? .constant(false)
  }

  var negated: ConditionTree { .not(self) }
}

/// A comparison, written `[quantifier] left operator[options] right`.
struct Comparison: Sendable, Hashable {
  /// The quantifier over the elements of a collection on the left side.
  ///
  /// NONE is written as NOT ANY.
  enum Quantifier: Sendable, Hashable { case any, all }

  enum Operator: Sendable, Hashable, CaseIterable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    /// Takes a list of two bounds on the right side, both included.
    case between
    /// Takes on the right side a list, a collection in a document, or a text that contains the left
    /// one.
    case `in`
    case contains, beginsWith, endsWith
    /// Compares the whole text with a pattern, in which `?` stands for one character and `*` for
    /// any number.
    case like
    /// Compares the whole text with a regular expression.
    case matches
    /// Looks for words in the texts of a search index.
    ///
    /// The record must have all of them, any of them, or all with the last one as a prefix.
    case search, searchAny, searchPrefix
    /// Takes on the right side a list of numbers: south, west, north and east.
    case within
    /// Takes on the right side a list of numbers: latitude, longitude, and meters unless any
    /// distance is near.
    case near
  }

  var quantifier: Quantifier?
  var left: Operand
  var `operator`: Operator
  var options: TextOptions
  var right: Operand

  init(
    _ left: Operand, _ operator: Operator, _ right: Operand, options: TextOptions = [],
    quantifier: Quantifier? = nil
  ) {
    self.quantifier = quantifier
    self.left = left
    self.operator = `operator`
    self.options = options
    self.right = right
  }
}

/// One side of a comparison.
indirect enum Operand: Sendable, Hashable {
  case value(Value)
  /// A list of constants.
  case values([Value])
  /// A list with at least one element that is not a constant.
  case list([Operand])
  case path(ValuePath)
  /// A variable `$NAME` that has no value and is not the variable of a SUBQUERY.
  case variable(String)
  case arithmetic(ArithmeticOperator, Operand, Operand)
  case negative(Operand)
  /// The first operand if the condition is true, otherwise the second: `TERNARY(condition, a, b)`.
  case conditional(ConditionTree, Operand, Operand)
  /// `SUBQUERY(collection, $variable, condition)`: the elements for which the condition is true.
  ///
  /// The steps written after the SUBQUERY, such as `@count`, apply to these elements.
  case subquery(Operand, variable: String, ConditionTree, [ValuePath.Step])
  /// `CAST(operand, "type")`.
  ///
  /// A cast of a constant is replaced by the converted constant when the format string is parsed.
  case cast(Operand, CastType)
  case call(OperandFunction, [Operand])
}

enum ArithmeticOperator: String, Sendable, Hashable, CaseIterable {
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  /// The quotient of two integers is an integer, rounded towards zero.
  case divide = "/"
  case remainder = "%"
  case power = "**"
  // Operators on the bits of integers in two's complement. Their result for other numbers is null.
  case and = "&"
  case or = "|"
  case exclusiveOr = "^"
  /// The result is null if it needs more than 64 bits, or if the number of bits is negative.
  case shiftLeft = "<<"
  /// The shift keeps the sign.
  ///
  /// The result is null if the number of bits is negative.
  case shiftRight = ">>"

  /// Whether the operator works on the bits of integers.
  var isBitwise: Bool {
    switch self {
    case .and, .or, .exclusiveOr, .shiftLeft, .shiftRight: true
    case .add, .subtract, .multiply, .divide, .remainder, .power: false
    }
  }
}

/// The types that CAST converts to.
enum CastType: String, Sendable, Hashable, CaseIterable {
  case integer, double, decimal, string, date, uuid, data, json
}

/// Functions of one operand, written `name:(operand)`, and `now()`.
enum OperandFunction: String, Sendable, Hashable, CaseIterable {
  case uppercase, lowercase
  /// Removes differences in case and diacritics.
  case canonical
  case length
  case abs, floor, ceiling, trunc, sqrt
  /// Inverts all bits of an integer; null for other numbers.
  case onesComplement
  case count, sum, min, max, average
  case now
  // Parts of a date, with the names of `CalendarPart`. A second operand names the time zone.
  case year, quarter, month, weekYear, week, dayOfYear, day, weekday, hour, minute, second
  case startOfYear, startOfQuarter, startOfMonth, startOfWeek, startOfDay, startOfHour
}

/// A path from the record, or from the variable of a SUBQUERY, to a value.
package struct ValuePath: Sendable, Hashable {
  enum Root: Sendable, Hashable {
    /// The record itself, written `SELF` or omitted before an attribute's name.
    case record
    /// The variable of an enclosing SUBQUERY.
    case variable(String)
  }

  enum Step: Sendable, Hashable {
    /// An attribute's name in the first step, or a member's name in a later step.
    ///
    /// On a collection, the step takes the member of each element.
    case member(String)
    case element(Int)
    case first, last
    /// The number of elements, written `[SIZE]`.
    case size
    /// `@count`, `@sum` and so on, over the collection to which the earlier steps lead.
    ///
    /// The later steps lead from each element to the value that is aggregated.
    case aggregate(CollectionOperator)
  }

  var root: Root
  var steps: [Step]

  init(_ root: Root = .record, _ steps: [Step]) {
    self.root = root
    self.steps = steps
  }

  /// Returns whether the path leads to the member `name` of the record, and no further.
  func isMember(_ name: String) -> Bool {
    guard root == .record, steps.count == 1, case .member(name) = steps[0] else { return false }
    return true
  }

  /// The name of the record's id in conditions.
  static let recordIDName = "_id"

  /// Creates the path to the attribute `name`.
  init(attribute name: String) { self.init(.record, [.member(name)]) }
}

enum CollectionOperator: String, Sendable, Hashable, CaseIterable {
  case count, sum, min, max, avg
}
