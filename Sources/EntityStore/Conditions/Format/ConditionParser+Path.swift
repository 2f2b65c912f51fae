internal import LodestoreBytes

extension ConditionParser {
  /// Parses a key path from the record, with its first word as the current token.
  @inline(never)
  mutating func path() throws(FormatFault) -> DeepOperand {
    let mark = token
    var steps: [ValuePath.Step] = []
    switch token.kind {
    case .keyword(.itself): break
    case .collectionOperator: steps.append(.aggregate(try collectionOperator()))
    default: steps.append(.member(word(token, dropping: token.kind == .quotedWord ? 1 : 0)))
    }
    try advance()
    return try path(.record, steps, from: mark)
  }

  /// Parses the rest of a path whose first steps are `start`.
  mutating func path(
    _ root: ValuePath.Root, _ start: [ValuePath.Step], from mark: FormatToken
  ) throws(FormatFault) -> DeepOperand {
    var steps = start
    try readSteps(into: &steps)
    try count(steps.count, at: mark)
    let path = ValuePath(root, steps)
    nameOffsets.append((ConditionPrinter.text(path), mark.start))
    return try node(.path(path), by: mark)
  }

  /// Parses the steps after an operand in parentheses, if it can have steps.
  @inline(never)
  mutating func extended(
    _ operand: DeepOperand, from start: Int
  ) throws(FormatFault) -> DeepOperand {
    guard token.kind == .period || token.kind == .openBracket else { return operand }
    let mark = token
    switch operand.tree {
    case .path(let path):
      var result = operand
      var steps = path.steps
      try readSteps(into: &steps)
      try count(steps.count - path.steps.count, at: mark)
      let longer = ValuePath(path.root, steps)
      nameOffsets.append((ConditionPrinter.text(longer), start))
      result.tree = .path(longer)
      return result
    case .subquery(let collection, let variable, let condition, var steps):
      let before = steps.count
      try readSteps(into: &steps)
      try count(steps.count - before, at: mark)
      return DeepOperand(
        tree: .subquery(collection, variable: variable, condition, steps), depth: operand.depth)
    default: return operand
    }
  }

  /// Parses steps such as `.name`, `.@count` and `[0]`, as long as they follow.
  @inline(never)
  mutating func readSteps(into steps: inout [ValuePath.Step]) throws(FormatFault) {
    while true {
      switch token.kind {
      case .period:
        try advance()
        try readMember(into: &steps)
      case .openBracket:
        try advance()
        steps.append(try element())
        try expect(.closeBracket, "']'")
      default: return
      }
    }
  }

  private mutating func readMember(into steps: inout [ValuePath.Step]) throws(FormatFault) {
    let expected = "a name or a collection operator after '.'"
    switch token.kind {
    case .word: steps.append(.member(word(token)))
    case .quotedWord: steps.append(.member(word(token, dropping: 1)))
    case .collectionOperator: steps.append(.aggregate(try collectionOperator()))
    case .keyword(let keyword) where keyword != .conformsToUTI && keyword != .equalsUTI:
      steps.append(.member(word(token)))
    case .percent where lexer.peek() == UInt8(ascii: "K"):
      let mark = token
      guard case .path(let path) = try argument().tree, path.root == .record else {
        throw fault(at: mark, expected)
      }
      steps += path.steps
      return
    default: throw misplaced(expected)
    }
    try advance()
  }

  private func collectionOperator() throws(FormatFault) -> CollectionOperator {
    let name = word(token, dropping: 1)
    if let found = CollectionOperator(rawValue: name.lowercased()) { return found }
    let known = CollectionOperator.allCases.map(\.rawValue)
    throw fault(
      at: token, known.map { "@\($0)" }.formattedChoice,
      suggestion: NearestName.of(name, among: known).map { "@\($0)" })
  }

  /// Parses the content of brackets.
  private mutating func element() throws(FormatFault) -> ValuePath.Step {
    let mark = token
    let expected = "a position from 0, FIRST, LAST, SIZE or a member's name in quotes"
    let operand: Operand
    switch token.kind {
    case .keyword(.first), .keyword(.last), .keyword(.size):
      let kind = token.kind
      try advance()
      return kind == .keyword(.first) ? .first : kind == .keyword(.last) ? .last : .size
    case .number: operand = .value(try number(isNegative: false))
    case .string: operand = .value(.string(try string()))
    case .percent:
      guard lexer.peek() != UInt8(ascii: "K") else { throw fault(at: mark, expected) }
      operand = try argument().tree
    default: throw misplaced(expected)
    }
    switch operand {
    case .value(.integer(let index)) where index >= 0 && Int(exactly: index) != nil:
      return .element(Int(index))
    case .value(.string(let name)): return .member(name)
    default: throw fault(at: mark, expected)
    }
  }
}

// MARK: - Variables

extension ConditionParser {
  @inline(never)
  mutating func variable() throws(FormatFault) -> DeepOperand {
    let mark = token
    let name = word(token, dropping: 1)
    try advance()
    if scope.contains(name) { return try path(.variable(name), [], from: mark) }
    if let given = variables[name] { return try inserted(given, mark) }
    guard token.kind != .period, token.kind != .openBracket else {
      throw fault(
        at: mark, "a variable that a SUBQUERY declares, or that is given, in front of its members")
    }
    nameOffsets.append(("$\(name)", mark.start))
    return try node(.variable(name), by: mark)
  }

  /// Returns the operand that an argument or a given variable stands for.
  ///
  /// The current token is the one after the mark.
  mutating func inserted(
    _ argument: FormatArgument, _ mark: FormatToken
  ) throws(FormatFault) -> DeepOperand {
    switch argument {
    case .value(let value): return try constant(value, mark)
    // The values of the list are not counted as nodes, since they need no parsing.
    case .list(let values): return try node(.values(values), by: mark)
    case .path(let text):
      guard let path = Self.keyPath(text, limits: limits) else {
        throw fault(at: mark, "a key path such as license.type for it")
      }
      return try self.path(path.root, path.steps, from: mark)
    }
  }

  /// Parses a key path given as an argument; returns `nil` if the text is not a key path.
  ///
  /// No word in the path is reserved, except `SELF` in capitals at the start.
  static func keyPath(_ text: String, limits: FormatLimits) -> ValuePath? {
    guard text.utf8.count <= limits.bytes else { return nil }
    var copy = text
    return copy.withUTF8 { bytes in
      var parser = ConditionParser(ByteView(bytes), limits: limits)
      return try? parser.wholePath()
    }
  }

  private mutating func wholePath() throws(FormatFault) -> ValuePath {
    try advance()
    var steps: [ValuePath.Step] = []
    if token.kind == .keyword(.itself), word(token) == FormatKeyword.itself.rawValue {
      try advance()
    } else {
      guard token.kind != .percent else { throw misplaced("a key path") }
      try readMember(into: &steps)
    }
    try readSteps(into: &steps)
    guard token.kind == .end else { throw misplaced("'.' or '['") }
    return ValuePath(.record, steps)
  }
}

extension [String] {
  /// The strings as text, such as `a, b or c`.
  var formattedChoice: String {
    count < 2 ? first ?? "" : dropLast().joined(separator: ", ") + " or " + (last ?? "")
  }
}
