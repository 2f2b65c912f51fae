/// A part of a predicate as its author would write it.
///
/// Constants are the user's data and show as `…`.
struct PredicateText {
  /// How tightly it binds; the less, the sooner it needs parentheses.
  enum Precedence: Int {
    case ternary, or, and, comparison, coalescing, range, cast, sum, product, prefix, primary
  }

  let string: String
  let precedence: Precedence

  init(_ string: String, _ precedence: Precedence = .primary) {
    self.string = string
    self.precedence = precedence
  }

  /// An operator between its sides.
  init(_ left: PredicateText, _ operator: String, _ right: PredicateText, _ level: Precedence) {
    // Comparisons do not chain; the others group from the left.
    let isChained = level != .comparison && level != .range
    func side(_ text: PredicateText, isLeft: Bool) -> String {
      let isTighter =
        text.precedence.rawValue > level.rawValue
        || text.precedence == level && (level == .and || level == .or || isLeft && isChained)
      return isTighter ? text.string : "(\(text.string))"
    }
    let space = level == .range ? "" : " "
    self.init(
      side(left, isLeft: true) + space + `operator` + space + side(right, isLeft: false), level)
  }

  /// An operator in front of its operand.
  init(prefix: String, _ operand: PredicateText) {
    let needsParentheses = operand.precedence.rawValue < Precedence.primary.rawValue
    self.init(needsParentheses ? "\(prefix)(\(operand.string))" : prefix + operand.string, .prefix)
  }

  /// A function's name and its arguments.
  init(function: String, _ arguments: [PredicateText]) {
    self.init("\(function)(\(arguments.map(\.string).joined(separator: ", ")))")
  }

  /// `self` and what is said of it: a member, a subscript, a method.
  func followed(by suffix: String) -> PredicateText {
    precedence == .primary
      ? PredicateText(string + suffix) : PredicateText("(\(string))\(suffix)")
  }
}
