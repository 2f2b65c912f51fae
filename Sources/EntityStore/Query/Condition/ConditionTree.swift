internal import LodestoreFormat

/// A condition on one record, as data: what all three ways of saying one end in.
///
/// Key path operators, `#Predicate` and the format string build it; ``ConditionBinding`` checks it against an
/// entity's schema, the planner and the evaluator take it from there. Logic has two values: a
/// comparison with null is false but for `==` and `!=`, to which null is a value like any other,
/// and NOT turns false into true.
///
/// Make one with ``all(of:)``, ``any(of:)`` and ``negated``, which keep to the form that
/// ``ConditionPrinter`` prints and the parser returns.
indirect enum ConditionTree: Sendable, Hashable {
  case constant(Bool)
  /// AND: two conditions or more, in the order of the author.
  case all([ConditionTree])
  /// OR: two conditions or more.
  case any([ConditionTree])
  case not(ConditionTree)
  case comparison(Comparison)
  /// What only a Swift closure can tell, on the decoded entity.
  case closure(ConditionClosure)

  /// The conjunction of `conditions`; true when there is none.
  static func all(of conditions: [ConditionTree]) -> ConditionTree {
    conditions.count > 1 ? .all(conditions) : conditions.first ?? .constant(true)
  }

  /// The disjunction of `conditions`; false when there is none.
  static func any(of conditions: [ConditionTree]) -> ConditionTree {
    conditions.count > 1 ? .any(conditions) : conditions.first ?? .constant(false)
  }

  var negated: ConditionTree { .not(self) }
}

/// `[quantifier] left operator[options] right`.
struct Comparison: Sendable, Hashable {
  /// Over the elements of a left side that is a collection; NONE is NOT ANY.
  enum Quantifier: Sendable, Hashable { case any, all }

  enum Operator: Sendable, Hashable, CaseIterable {
    case equal, notEqual, less, lessOrEqual, greater, greaterOrEqual
    /// The right side is a list of two, both included.
    case between
    /// The right side is a list, a collection in a document, or a text that contains the left one.
    case `in`
    case contains, beginsWith, endsWith
    /// `?` stands for one character, `*` for any number; the whole text.
    case like
    /// A regular expression; the whole text.
    case matches
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
  /// A list in which something is no constant.
  case list([Operand])
  case path(ValuePath)
  /// A `$NAME` that has not been given a value and that no SUBQUERY declares.
  case variable(String)
  case arithmetic(ArithmeticOperator, Operand, Operand)
  case negative(Operand)
  /// `TERNARY(condition, a, b)`.
  case conditional(ConditionTree, Operand, Operand)
  /// `SUBQUERY(collection, $variable, condition)`: the elements for which the condition is true,
  /// followed by what is asked of them, such as `@count`.
  case subquery(Operand, variable: String, ConditionTree, [ValuePath.Step])
  /// `CAST(operand, "type")`; constants are converted when it is read.
  case cast(Operand, CastType)
  case call(OperandFunction, [Operand])
}

enum ArithmeticOperator: String, Sendable, Hashable, CaseIterable {
  case add = "+"
  case subtract = "-"
  case multiply = "*"
  /// Of two integers an integer, rounded towards zero.
  case divide = "/"
  case remainder = "%"
  case power = "**"
  // Of the bits of integers, in two's complement; null for other numbers.
  case and = "&"
  case or = "|"
  case exclusiveOr = "^"
  /// Null where the result needs more than 64 bits, and by a negative number of bits.
  case shiftLeft = "<<"
  /// Keeps the sign; null by a negative number of bits.
  case shiftRight = ">>"

  /// Whether it is of the bits of integers.
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
  /// Without case and diacritics.
  case canonical
  case length
  case abs, floor, ceiling, trunc, sqrt
  /// All bits of an integer turned around; null for other numbers.
  case onesComplement
  case count, sum, min, max, average
  case now
  // Parts of a date, with the names of `CalendarPart`. A second operand says the time zone.
  case year, quarter, month, weekYear, week, dayOfYear, day, weekday, hour, minute, second
  case startOfYear, startOfQuarter, startOfMonth, startOfWeek, startOfDay, startOfHour
}

/// A way from the record, or from the variable of a SUBQUERY, to a value.
package struct ValuePath: Sendable, Hashable {
  enum Root: Sendable, Hashable {
    /// `SELF`, or nothing, in front of an attribute's name.
    case record
    /// Declared by a SUBQUERY around it.
    case variable(String)
  }

  enum Step: Sendable, Hashable {
    /// An attribute's name, then names of members; of a collection, that member of each element.
    case member(String)
    case element(Int)
    case first, last
    /// `[SIZE]`.
    case size
    /// `@count`, `@sum` and so on, over the collection before it; further steps say of what in
    /// each element.
    case aggregate(CollectionOperator)
  }

  var root: Root
  var steps: [Step]

  init(_ root: Root = .record, _ steps: [Step]) {
    self.root = root
    self.steps = steps
  }

  /// The attribute `name`.
  init(attribute name: String) { self.init(.record, [.member(name)]) }
}

enum CollectionOperator: String, Sendable, Hashable, CaseIterable {
  case count, sum, min, max, avg
}
