/// The notation of a node around the text of its parts.
enum PredicateNotation {
  case infix(String, PredicateText.Precedence)
  case prefix(String)
  case suffix(String)
  /// A cast to a type, with its operator.
  case cast(String, Any.Type)
  /// A method of the first part, with the second as its argument.
  case method(String, label: String = "")
  /// A method of the first part, with the second as its closure.
  case closure(String)
  /// A subscript of the first part, with the second in the brackets.
  case index
}

/// A part of a predicate as its author would write it.
///
/// Constants are shown as `…`, since they may contain the user's data.
struct PredicateText {
  /// The precedence of the outermost operator.
  ///
  /// A part of lower precedence needs parentheses.
  enum Precedence: Int {
    case ternary, or, and, comparison, coalescing, range, cast, sum, product, prefix, primary
  }

  let string: String
  let precedence: Precedence

  init(_ string: String, _ precedence: Precedence = .primary) {
    self.string = string
    self.precedence = precedence
  }

  init(
    _ notation: PredicateNotation, _ first: PredicateText,
    _ second: PredicateText = PredicateText("")
  ) {
    let inner = second.string
    switch notation {
    case .infix(let sign, let level): self.init(first, sign, second, level)
    case .prefix(let sign): self.init(prefix: sign, first)
    case .suffix(let suffix): self = first.followed(by: suffix)
    case .cast(let sign, let type): self.init(first, sign, PredicateText("\(type)"), .cast)
    case .method(let name, let label): self = first.followed(by: ".\(name)(\(label)\(inner))")
    case .closure(let name): self = first.followed(by: ".\(name) { \(inner) }")
    case .index: self = first.followed(by: "[\(inner)]")
    }
  }

  /// Creates the text of an operator between its sides.
  private init(
    _ left: PredicateText, _ operator: String, _ right: PredicateText, _ level: Precedence
  ) {
    // Comparisons and ranges do not chain; other operators group from the left.
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

  /// Creates the text of an operator before its operand.
  private init(prefix: String, _ operand: PredicateText) {
    let needsParentheses = operand.precedence.rawValue < Precedence.primary.rawValue
    self.init(needsParentheses ? "\(prefix)(\(operand.string))" : prefix + operand.string, .prefix)
  }

  /// Creates the text of a call of a function.
  init(function: String, _ arguments: [PredicateText]) {
    self.init("\(function)(\(arguments.map(\.string).joined(separator: ", ")))")
  }

  /// Returns the text followed by a member, a subscript or a method.
  func followed(by suffix: String) -> PredicateText {
    precedence == .primary ? PredicateText(string + suffix) : PredicateText("(\(string))\(suffix)")
  }
}
