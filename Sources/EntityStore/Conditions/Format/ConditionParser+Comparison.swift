extension ConditionParser {
  /// Parses `[quantifier] operand operator[options] operand`, a group, a constant condition or a
  /// single operand.
  ///
  /// The caller decides the meaning of a single operand.
  mutating func comparison() throws(FormatFault) -> FormatNode {
    conditionStart = token.start
    let mark = token
    var left: DeepOperand
    switch token.kind {
    case .keyword(.truePredicate), .keyword(.falsePredicate): return try constantCondition()
    case .keyword(.any), .keyword(.some), .keyword(.all), .keyword(.none): return try quantified()
    case .openParenthesis:
      let node = try group()
      guard case .operand(let operand) = node else { return node }
      left = try arithmetic(first: try extended(operand, from: mark.start))
    default: left = try arithmetic()
    }
    guard let `operator` = try comparisonOperator() else { return .operand(left) }
    return .condition(try compared(left, `operator`, nil))
  }

  @inline(never)
  private mutating func constantCondition() throws(FormatFault) -> FormatNode {
    let tree = ConditionTree.constant(token.kind == .keyword(.truePredicate))
    let depth = try grown(0, by: token)
    try advance()
    return .condition(DeepCondition(tree: tree, depth: depth))
  }

  /// Parses a comparison with a quantifier, which is the current token.
  @inline(never)
  private mutating func quantified() throws(FormatFault) -> FormatNode {
    let mark = token
    let quantifier: Comparison.Quantifier = token.kind == .keyword(.all) ? .all : .any
    try advance()
    if case .comparison = token.kind {
      throw fault(at: mark, "a condition", suggestion: "#\(word(mark))")
    }
    let left = try arithmetic()
    let result =
      if let `operator` = try comparisonOperator() {
        try compared(left, `operator`, quantifier)
      } else {
        try truth(of: left, quantifier: quantifier)
      }
    guard mark.kind == .keyword(.none) else { return .condition(result) }
    return .condition(
      try node(.not(result.tree), over: result.depth, by: mark))
  }

  private func comparisonOperator() throws(FormatFault) -> Comparison.Operator? {
    switch token.kind {
    case .comparison(let found): return found
    case .keyword(.conformsToUTI), .keyword(.equalsUTI):
      throw misplaced(
        "an operator other than \(word(token).uppercased()), which is not supported")
    case .keyword(let keyword): return keyword.comparison
    default: return nil
    }
  }

  /// Parses the rest of a comparison, with its operator as the current token.
  @inline(never)
  private mutating func compared(
    _ left: DeepOperand, _ operator: Comparison.Operator, _ quantifier: Comparison.Quantifier?
  ) throws(FormatFault) -> DeepCondition {
    let mark = token
    try advance()
    let options = try options()
    let start = token
    let right = try arithmetic()
    if case .comparison = token.kind, let sign = right.tree.logicalSign {
      throw fault(at: token, "AND, OR or \(closer)", suggestion: "\(sign) before")
    }
    if `operator` == .between { try requireBounds(right.tree, start) }
    let comparison = Comparison(
      left.tree, `operator`, right.tree, options: options, quantifier: quantifier)
    let depth = try grown(max(left.depth, right.depth), by: mark)
    return DeepCondition(tree: .comparison(comparison), depth: depth)
  }

  /// Parses `[c]`, `[d]`, `[cd]` or `[n]`, if there is one.
  @inline(never)
  private mutating func options() throws(FormatFault) -> TextOptions {
    guard token.kind == .openBracket else { return [] }
    try advance()
    guard token.kind == .word else { throw misplaced("c, d, cd or n") }
    var options: TextOptions = []
    for byte in bytes(of: token) {
      switch byte | 0x20 {
      case UInt8(ascii: "c"): options.insert(.caseInsensitive)
      case UInt8(ascii: "d"): options.insert(.diacriticInsensitive)
      case UInt8(ascii: "n"): options.insert(.normalized)
      default: throw misplaced("c, d, cd or n")
      }
    }
    try advance()
    try expect(.closeBracket, "']'")
    return options
  }

  @inline(never)
  private func requireBounds(_ operand: Operand, _ start: FormatToken) throws(FormatFault) {
    let isPossible =
      switch operand {
      case .values(let values): values.count == 2
      case .list(let operands): operands.count == 2
      case .path, .variable, .conditional, .subquery, .call: true
      case .value, .arithmetic, .negative, .cast: false
      }
    guard isPossible else {
      throw fault(at: start, "a list of two, { lower, upper }, after BETWEEN")
    }
  }
}

extension Operand {
  /// The logical operator that was probably meant by a bitwise operator in the operand.
  var logicalSign: String? {
    switch self {
    case .arithmetic(.and, _, _): "&&"
    case .arithmetic(.or, _, _): "||"
    default: nil
    }
  }
}
