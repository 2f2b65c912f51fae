internal import LodestoreFormat

extension ConditionParser {
  /// Parses `name:(operand)`, `modulus:by:(a, b)` and the like, or `now()`.
  @inline(never)
  mutating func call() throws(FormatFault) -> DeepOperand {
    let mark = token
    let name = word(token)
    if let known = Self.operators.first(where: { $0.first.lowercased() == name.lowercased() }) {
      return try call(known.second, known.sign)
    }
    guard let function = Self.functions[name.lowercased()] else { throw unknownFunction(name) }
    try advance()
    if token.kind == .colon { try advance() }
    try open()
    if function == .now {
      try close("')'")
      return try node(.call(.now, []), by: mark)
    }
    let operand = try arithmetic()
    var arguments = [operand.tree]
    var depth = operand.depth
    if function.calendarPart != nil, token.kind == .comma {
      try advance()
      let zone = try arithmetic()
      arguments.append(zone.tree)
      depth = max(depth, zone.depth)
    }
    try close("an operator or ')'")
    return try node(.call(function, arguments), over: depth, by: mark)
  }

  /// The functions of two operands, with the two words of their names and the equivalent operators.
  private static let operators: [(first: String, second: String, sign: ArithmeticOperator)] = [
    ("add", "to", .add), ("from", "subtract", .subtract), ("multiply", "by", .multiply),
    ("divide", "by", .divide), ("modulus", "by", .remainder), ("raise", "toPower", .power),
    ("bitwiseAnd", "with", .and), ("bitwiseOr", "with", .or),
    ("bitwiseXor", "with", .exclusiveOr), ("leftshift", "by", .shiftLeft),
    ("rightshift", "by", .shiftRight),
  ]

  /// The functions of one operand, by name in lower case.
  private static let functions = Dictionary(
    uniqueKeysWithValues: OperandFunction.allCases.map { ($0.rawValue.lowercased(), $0) })

  /// Parses the rest of a function of two operands, with the first word of its name as the current
  /// token.
  @inline(never)
  private mutating func call(
    _ second: String, _ sign: ArithmeticOperator
  ) throws(FormatFault) -> DeepOperand {
    let mark = token
    let expected = "':\(second):(' and two operands"
    try advance()
    try expect(.colon, expected)
    guard word(token).lowercased() == second.lowercased() else { throw misplaced(expected) }
    try advance()
    try expect(.colon, expected)
    try open()
    let left = try arithmetic()
    try expect(.comma, "an operator or ','")
    let right = try arithmetic()
    try close("an operator or ')'")
    return try node(
      .arithmetic(sign, left.tree, right.tree), over: max(left.depth, right.depth), by: mark)
  }

  @inline(never)
  private func unknownFunction(_ name: String) -> FormatFault {
    let operators = Self.operators.map { "\($0.first):\($0.second)" }
    let shown = OperandFunction.allCases.filter { $0.calendarPart == nil }.map(\.rawValue)
    let known = OperandFunction.allCases.map(\.rawValue) + operators
    return fault(
      at: token,
      "a function: \((shown + operators).joined(separator: ", ")) or a part of a date such as year or "
        + "startOfMonth",
      suggestion: NearestName.of(name, among: known))
  }

  /// Parses `TERNARY(condition, a, b)`.
  @inline(never)
  mutating func ternary() throws(FormatFault) -> DeepOperand {
    let mark = token
    try advance()
    try open()
    let condition = try inner(endingWith: "','")
    try expect(.comma, "AND, OR or ','")
    let first = try arithmetic()
    try expect(.comma, "an operator or ','")
    let second = try arithmetic()
    try close("an operator or ')'")
    let depth = max(condition.depth, first.depth, second.depth)
    return try node(.conditional(condition.tree, first.tree, second.tree), over: depth, by: mark)
  }

  /// Parses `SUBQUERY(collection, $variable, condition)` and the steps that follow it.
  @inline(never)
  mutating func subquery() throws(FormatFault) -> DeepOperand {
    let mark = token
    try advance()
    try open()
    let collection = try arithmetic()
    try expect(.comma, "','")
    guard token.kind == .variable else { throw misplaced("a variable such as $x") }
    let name = word(token, dropping: 1)
    try advance()
    try expect(.comma, "','")
    scope.append(name)
    let condition = try inner(endingWith: "')'")
    scope.removeLast()
    try close("AND, OR or ')'")
    var steps: [ValuePath.Step] = []
    try readSteps(into: &steps)
    try count(steps.count, at: mark)
    return try node(
      .subquery(collection.tree, variable: name, condition.tree, steps),
      over: max(collection.depth, condition.depth), by: mark)
  }

  /// Parses `CAST(operand, "type")`, and converts a constant at once.
  @inline(never)
  mutating func cast() throws(FormatFault) -> DeepOperand {
    let mark = token
    try advance()
    try open()
    let start = token
    let operand = try arithmetic()
    let end = token.start
    try expect(.comma, "an operator or ','")
    let name = try castName()
    try close("')'")
    if case .value = operand.tree {
      // The converted constant replaces the call. Only the constant counts as a node, and it was
      // counted when it was parsed.
      let converted = try converted(operand.tree, name, start.start, end)
      return DeepOperand(tree: converted, depth: operand.depth)
    }
    if case .values = operand.tree { throw fault(at: start, "one value to convert") }
    return try node(.cast(operand.tree, name.type), over: operand.depth, by: mark)
  }

  @inline(never)
  private func converted(
    _ constant: Operand, _ name: ConstantCast.Name, _ start: Int, _ end: Int
  ) throws(FormatFault) -> Operand {
    guard case .value(let value) = constant, let result = ConstantCast.convert(value, to: name)
    else { throw fault(from: start, to: end, ConstantCast.expectation(of: name)) }
    return .value(result)
  }

  @inline(never)
  private mutating func castName() throws(FormatFault) -> ConstantCast.Name {
    let mark = token
    let text: String
    switch token.kind {
    case .string: text = try string()
    case .percent:
      guard case .value(.string(let given)) = try argument().tree else {
        throw fault(at: mark, "a type's name")
      }
      text = given
    default: throw misplaced("a type's name in quotes, such as \"date\"")
    }
    if let name = ConstantCast.Name(text) { return name }
    throw fault(
      at: mark, "a type: \(CastType.allCases.map(\.rawValue).formattedChoice)",
      suggestion: NearestName.of(text, among: ConstantCast.Name.known).map { "\"\($0)\"" })
  }

  /// Parses a condition inside a call; the condition counts as one level of nesting, as in the
  /// tree.
  private mutating func inner(endingWith closer: String) throws(FormatFault) -> DeepCondition {
    let outer = self.closer
    self.closer = closer
    try enter()
    let result = try condition(disjunction())
    level -= 1
    self.closer = outer
    return result
  }

  private mutating func open() throws(FormatFault) {
    try enter()
    try expect(.openParenthesis, "'('")
  }

  private mutating func close(_ expected: String) throws(FormatFault) {
    try expect(.closeParenthesis, expected)
    level -= 1
  }
}
