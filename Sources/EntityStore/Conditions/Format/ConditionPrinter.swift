/// Writes conditions as format strings that ``ConditionParser`` parses to the same tree.
///
/// The text has as few parentheses as possible, one spelling for each operator, and strings in
/// double quotes. A closure has no such form. Its source is written in angle brackets, which do not
/// parse.
enum ConditionPrinter {
  /// Returns a condition as a format string.
  static func text(_ tree: ConditionTree) -> String {
    var output = ""
    append(tree, to: &output)
    return output
  }

  /// Returns one side of a comparison as text.
  static func text(_ operand: Operand) -> String {
    var output = ""
    append(operand, to: &output)
    return output
  }

  /// Returns a key path as text.
  static func text(_ path: ValuePath) -> String {
    var output = ""
    append(path, to: &output)
    return output
  }

  // MARK: Conditions

  private static func append(_ tree: ConditionTree, to output: inout String) {
    switch tree {
    case .constant(let value): output += value ? "TRUEPREDICATE" : "FALSEPREDICATE"
    case .all(let parts): append(parts, " AND ", empty: "TRUEPREDICATE", to: &output)
    case .any(let parts): append(parts, " OR ", empty: "FALSEPREDICATE", to: &output)
    case .not(.comparison(let comparison)) where comparison.quantifier == .any:
      output += "NONE "
      appendSides(of: comparison, to: &output)
    case .not(let inner):
      output += "NOT "
      append(inner, grouped: precedence(inner) < 3, to: &output)
    case .comparison(let comparison):
      switch comparison.quantifier {
      case .any: output += "ANY "
      case .all: output += "ALL "
      case nil: break
      }
      appendSides(of: comparison, to: &output)
    case .closure(let closure): output += "<\(closure.text)>"
    }
  }

  /// Appends the parts of an AND or OR.
  ///
  /// OR binds less tightly than AND. A group inside a group of the same kind keeps its parentheses.
  private static func append(
    _ parts: [ConditionTree], _ separator: String, empty: String, to output: inout String
  ) {
    let own = separator == " OR " ? 1 : 2
    for (index, part) in parts.enumerated() {
      if index > 0 { output += separator }
      append(part, grouped: parts.count > 1 && precedence(part) <= own, to: &output)
    }
    if parts.isEmpty { output += empty }
  }

  private static func append(_ tree: ConditionTree, grouped: Bool, to output: inout String) {
    if grouped { output += "(" }
    append(tree, to: &output)
    if grouped { output += ")" }
  }

  private static func precedence(_ tree: ConditionTree) -> Int {
    switch tree {
    case .any(let parts) where parts.count > 1: 1
    case .all(let parts) where parts.count > 1: 2
    case .any(let parts), .all(let parts): parts.first.map(precedence) ?? 4
    case .not: 3
    case .constant, .comparison, .closure: 4
    }
  }

  private static func appendSides(of comparison: Comparison, to output: inout String) {
    append(comparison.left, to: &output)
    output += " \(comparison.operator.canonicalText)"
    if !comparison.options.isEmpty {
      output += "["
      if comparison.options.contains(.caseInsensitive) { output += "c" }
      if comparison.options.contains(.diacriticInsensitive) { output += "d" }
      if comparison.options.contains(.normalized) { output += "n" }
      output += "]"
    }
    output += " "
    append(comparison.right, to: &output)
  }
}

extension Comparison.Operator {
  /// The spelling of the operator that is printed.
  var canonicalText: String {
    switch self {
    case .equal: "=="
    case .notEqual: "!="
    case .less: "<"
    case .lessOrEqual: "<="
    case .greater: ">"
    case .greaterOrEqual: ">="
    case .between: "BETWEEN"
    case .in: "IN"
    case .contains: "CONTAINS"
    case .beginsWith: "BEGINSWITH"
    case .endsWith: "ENDSWITH"
    case .like: "LIKE"
    case .matches: "MATCHES"
    case .search: "SEARCH"
    case .searchAny: "SEARCHANY"
    case .searchPrefix: "SEARCHPREFIX"
    case .within: "WITHIN"
    case .near: "NEAR"
    }
  }
}
