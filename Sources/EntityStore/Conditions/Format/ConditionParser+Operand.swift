internal import LodestoreFormat

extension ConditionParser {
  /// Parses an operand with its arithmetic, by precedence climbing.
  @inline(never)
  mutating func arithmetic(
    atLeast least: Int = 1, first: DeepOperand? = nil
  ) throws(FormatFault) -> DeepOperand {
    var left = if let first { first } else { try signed() }
    while let sign = arithmeticOperator, sign.precedence >= least {
      let mark = token
      try advance()
      // Powers group from the right, other operators from the left.
      try enter()
      let right = try arithmetic(atLeast: sign.precedence + (sign == .power ? 0 : 1))
      level -= 1
      left = try node(
        .arithmetic(sign, left.tree, right.tree), over: max(left.depth, right.depth), by: mark)
    }
    return left
  }

  private var arithmeticOperator: ArithmeticOperator? {
    switch token.kind {
    case .plus: .add
    case .minus: .subtract
    case .times: .multiply
    case .over: .divide
    // "%@" after an operand is a surplus argument mark, not a remainder operator.
    case .percent: lexer.peek() == UInt8(ascii: "@") ? nil : .remainder
    case .power: .power
    case .bitAnd: .and
    case .bitOr: .or
    default: nil
    }
  }

  private mutating func signed() throws(FormatFault) -> DeepOperand {
    if token.kind == .minus { return try negative() }
    guard token.kind == .plus else { return try primary() }
    try advance()
    guard token.kind == .number else { throw misplaced("a number after '+'") }
    return try primary()
  }

  /// Parses minus signs and their operand.
  ///
  /// The last sign is part of a number that follows.
  @inline(never)
  private mutating func negative() throws(FormatFault) -> DeepOperand {
    var marks: [FormatToken] = []
    var operand: DeepOperand?
    while operand == nil, token.kind == .minus {
      let mark = token
      let next = nextByte
      if next &- 0x30 < 10 || next == UInt8(ascii: ".") {
        try advance()
        guard token.kind == .number else { throw missingOperand() }
        operand = try constant(number(isNegative: true), mark)
      } else {
        try enter()
        marks.append(mark)
        try advance()
      }
    }
    var result = if let operand { operand } else { try signed() }
    level -= marks.count
    for mark in marks.reversed() {
      result = try node(.negative(result.tree), over: result.depth, by: mark)
    }
    return result
  }

  func isCall(orColon: Bool = false) -> Bool {
    let next = nextByte
    return next == UInt8(ascii: "(") || orColon && next == UInt8(ascii: ":")
  }

  /// Parses a value, key path, list, call or operand in parentheses.
  private mutating func primary() throws(FormatFault) -> DeepOperand {
    let mark = token
    switch token.kind {
    case .word: return isCall(orColon: true) ? try call() : try path()
    case .quotedWord, .collectionOperator: return try path()
    case .number, .string: return try literal()
    case .variable: return try variable()
    case .percent: return try argument()
    case .openBrace: return try list()
    case .openParenthesis:
      try enter()
      try advance()
      let operand = try arithmetic()
      try closeGroup(of: nil)
      level -= 1
      return try extended(operand, from: mark.start)
    case .keyword(.cast) where isCall(): return try cast()
    case .keyword(.ternary) where isCall(): return try ternary()
    case .keyword(.subquery) where isCall(): return try subquery()
    case .keyword(let keyword): return try reserved(keyword)
    default: throw missingOperand()
    }
  }

  @inline(never)
  private mutating func literal() throws(FormatFault) -> DeepOperand {
    let mark = token
    if token.kind == .number { return try constant(number(isNegative: false), mark) }
    return try constant(.string(string()), mark)
  }

  /// Parses an operand that starts with a reserved word.
  @inline(never)
  private mutating func reserved(_ keyword: FormatKeyword) throws(FormatFault) -> DeepOperand {
    let mark = token
    let value: Value
    switch keyword {
    case .itself: return try path()
    case .null, .nil: value = .null
    case .true, .yes: value = .bool(true)
    case .false, .no: value = .bool(false)
    case .fetch, .anyKey: throw unsupported(keyword)
    default:
      guard keyword.isOftenName else { throw missingOperand() }
      return try path()
    }
    try advance()
    return try constant(value, mark)
  }

  @inline(never)
  private func unsupported(_ keyword: FormatKeyword) -> FormatFault {
    fault(
      at: token,
      "a value or a key path: \(keyword.rawValue) is not supported (an attribute of this name is "
        + "written #\(word(token)))")
  }

  /// Returns the error for a token that starts no operand.
  ///
  /// The error suggests `#` for a reserved word before an operator, which may be meant as a name.
  @inline(never)
  private func missingOperand() -> FormatFault {
    let expected = token.start == conditionStart ? "a condition" : "a value or a key path"
    guard case .keyword = token.kind else { return misplaced(expected) }
    var copy = self
    if (try? copy.advance()) != nil {
      switch copy.token.kind {
      case .comparison, .period: return fault(at: token, expected, suggestion: "#\(word(token))")
      default: break
      }
    }
    return misplaced(expected)
  }

  mutating func constant(_ value: Value, _ mark: FormatToken) throws(FormatFault) -> DeepOperand {
    try node(.value(value), by: mark)
  }

  /// Parses `{ a, b, c }`.
  @inline(never)
  private mutating func list() throws(FormatFault) -> DeepOperand {
    let mark = token
    try enter()
    try advance()
    var elements: [Operand] = []
    var values: [Value] = []
    var depth = 0
    while token.kind != .closeBrace {
      if !elements.isEmpty { try expect(.comma, "',' or '}'") }
      let before = nodes
      let start = token
      let element = try arithmetic()
      if case .value(let value) = element.tree {
        // Constants take little memory: a hundred of them count as one node.
        nodes = before
        if values.count % 100 == 0 { try count(1, at: start) }
        values.append(value)
      } else {
        depth = max(depth, element.depth)
      }
      elements.append(element.tree)
    }
    try advance()
    level -= 1
    let isConstant = values.count == elements.count
    return try node(isConstant ? .values(values) : .list(elements), over: depth, by: mark)
  }
}
