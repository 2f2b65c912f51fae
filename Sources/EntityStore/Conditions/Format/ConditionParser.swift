internal import LodestoreBytes

/// Parses format strings in the grammar of Apple's Predicate Programming Guide, in one pass.
///
/// The grammar differs in these points:
///
/// - `%K` and `$name` may be anywhere in a key path.
/// - A key path alone is a condition.
/// - `authors["first name"]` is a member with any name.
/// - `lowercase:(name)` may be written without its colon.
/// - A sign belongs to the operand directly after it, and `**` groups from the right.
///
/// ``ConditionBinding`` checks later whether names exist and types fit.
struct ConditionParser {
  let text: ByteView
  let arguments: [FormatArgument]
  let variables: [String: FormatArgument]
  let limits: FormatLimits
  var lexer: FormatLexer
  /// The current token, which has not been parsed yet.
  var token = FormatToken(kind: .end, start: 0, end: 0)
  var argumentsUsed = 0
  var nodes = 0
  var level = 0
  /// The variables of the enclosing SUBQUERYs.
  var scope: [String] = []
  /// The offset of the current condition.
  ///
  /// At this offset a condition is expected, not a value.
  var conditionStart = -1
  /// The token that may end the current condition, in words for errors.
  var closer = "the end"
  var nameOffsets: [(name: String, offset: Int)] = []

  init(
    _ text: ByteView, arguments: [FormatArgument] = [],
    variables: [String: FormatArgument] = [:], limits: FormatLimits
  ) {
    self.text = text
    self.arguments = arguments
    self.variables = variables
    self.limits = limits
    lexer = FormatLexer(text)
  }

  /// Parses a format string.
  ///
  /// `arguments` are for `%@`, `%K` and so on, in their order; `variables` are for `$name`. A
  /// variable that is not given and that no SUBQUERY declares stays in the tree.
  ///
  /// - Throws: `StoreError` with the code `invalidQuery`, whose cause is a
  ///   ``PredicateSyntaxError``.
  static func parse(
    _ text: String, arguments: [FormatArgument] = [], variables: [String: FormatArgument] = [:],
    limits: FormatLimits = FormatLimits()
  ) throws(StoreError) -> ParsedCondition {
    try read(text, arguments: arguments, variables: variables, limits: limits) {
      (parser) throws(FormatFault) in
      let tree = try parser.condition(parser.disjunction()).tree
      return ParsedCondition(tree: tree, positions: parser.positions())
    }
  }

  /// Parses a single expression, such as `downloads + 1`.
  ///
  /// - Throws: the errors of ``parse(_:arguments:variables:limits:)``.
  static func parseOperand(
    _ text: String, arguments: [FormatArgument] = [], limits: FormatLimits = FormatLimits()
  ) throws(StoreError) -> Operand {
    try read(text, arguments: arguments, variables: [:], limits: limits) {
      (parser) throws(FormatFault) in
      try parser.arithmetic().tree
    }
  }

  private static func read<Parsed>(
    _ text: String, arguments: [FormatArgument], variables: [String: FormatArgument],
    limits: FormatLimits, _ body: (inout ConditionParser) throws(FormatFault) -> Parsed
  ) throws(StoreError) -> Parsed {
    var copy = text
    let result = copy.withUTF8 { bytes -> Result<Parsed, PredicateSyntaxError> in
      var parser = ConditionParser(
        ByteView(bytes), arguments: arguments, variables: variables, limits: limits)
      do throws(FormatFault) { return .success(try parser.whole(body)) } catch {
        return .failure(error.error)
      }
    }
    switch result {
    case .success(let parsed): return parsed
    case .failure(let error): throw .unparsable(error)
    }
  }

  /// Reads the first token, calls `body`, and checks that it has read the whole text.
  private mutating func whole<Parsed>(
    _ body: (inout ConditionParser) throws(FormatFault) -> Parsed
  ) throws(FormatFault) -> Parsed {
    guard text.count <= limits.bytes else {
      throw FormatFault(
        PredicateSyntaxError(
          at: FormatPosition(), token: "\(text.count) bytes",
          expected: "at most \(limits.bytes) bytes (limit: bytes)"))
    }
    try advance()
    let parsed = try body(&self)
    guard token.kind == .end else { throw misplaced("AND, OR or \(closer)") }
    guard argumentsUsed == arguments.count else {
      throw fault(
        at: token,
        "a mark such as %@ for argument \(argumentsUsed + 1) (\(givenArguments) given)")
    }
    return parsed
  }

  private mutating func positions() -> [String: FormatPosition] {
    if !zip(nameOffsets, nameOffsets.dropFirst()).allSatisfy({ $0.offset <= $1.offset }) {
      nameOffsets.sort { $0.offset < $1.offset }
    }
    var result: [String: FormatPosition] = [:]
    result.reserveCapacity(nameOffsets.count)
    var position = FormatPosition()
    for (name, offset) in nameOffsets where result[name] == nil {
      position.advance(to: offset, in: text)
      result[name] = position
    }
    return result
  }
}

// MARK: - Logic

/// The content of parentheses.
///
/// Until the token after the parentheses is read, `(a)` may be a condition or the start of
/// `(a) + 1 > b`.
enum FormatNode {
  case condition(DeepCondition)
  case operand(DeepOperand)
}

/// A condition or an operand with the depth of its tree.
struct Deep<Tree> {
  var tree: Tree
  var depth: Int
}

typealias DeepCondition = Deep<ConditionTree>
typealias DeepOperand = Deep<Operand>

extension ConditionParser {
  mutating func disjunction() throws(FormatFault) -> FormatNode {
    let first = try conjunction()
    guard isOr else { return first }
    let mark = token
    let start = try condition(first)
    var parts = AlternativeParts(start.tree)
    var depth = start.depth
    while isOr {
      try advance()
      let before = nodes
      let next = try condition(conjunction())
      // A constant added to an IN is not counted as a node.
      if parts.append(next.tree) { nodes = before }
      depth = max(depth, next.depth)
    }
    // Comparisons that became an IN do not change the depth, because an IN is as deep as they were.
    return .condition(
      try node(.any(of: parts.trees), over: depth, by: mark))
  }

  private mutating func conjunction() throws(FormatFault) -> FormatNode {
    let first = try negation()
    guard isAnd else { return first }
    let mark = token
    let start = try condition(first)
    var parts = [start.tree]
    var depth = start.depth
    while isAnd {
      try advance()
      let next = try condition(negation())
      parts.append(next.tree)
      depth = max(depth, next.depth)
    }
    return .condition(try node(.all(parts), over: depth, by: mark))
  }

  private mutating func negation() throws(FormatFault) -> FormatNode {
    isNot ? try negated() : try comparison()
  }

  @inline(never)
  private mutating func negated() throws(FormatFault) -> FormatNode {
    var marks: [FormatToken] = []
    while isNot {
      try enter()
      marks.append(token)
      try advance()
    }
    var part = try condition(comparison())
    for mark in marks.reversed() { part = try node(.not(part.tree), over: part.depth, by: mark) }
    level -= marks.count
    return .condition(part)
  }

  private var isOr: Bool { token.kind == .or || token.kind == .keyword(.or) }
  private var isAnd: Bool { token.kind == .and || token.kind == .keyword(.and) }
  private var isNot: Bool { token.kind == .not || token.kind == .keyword(.not) }

  /// Returns the node as a condition.
  ///
  /// A key path alone is the condition that its value is true.
  mutating func condition(_ node: FormatNode) throws(FormatFault) -> DeepCondition {
    switch node {
    case .condition(let condition): return condition
    case .operand(let operand): return try truth(of: operand, quantifier: nil)
    }
  }

  /// Returns the condition `operand == TRUE` for a key path without an operator.
  @inline(never)
  mutating func truth(
    of operand: DeepOperand, quantifier: Comparison.Quantifier?
  ) throws(FormatFault) -> DeepCondition {
    guard case .path = operand.tree else {
      if let sign = operand.tree.logicalSign {
        throw fault(at: token, "an operator such as ==", suggestion: "\(sign) before")
      }
      throw misplaced("an operator such as ==")
    }
    switch token.kind {
    case .end, .closeParenthesis, .comma: break
    default:
      guard isAnd || isOr else { throw misplaced("an operator, AND, OR or \(closer)") }
    }
    try count(1, at: token)
    let comparison = Comparison(operand.tree, .equal, .value(.bool(true)), quantifier: quantifier)
    return try node(.comparison(comparison), over: operand.depth, by: token)
  }

  /// Parses the content of parentheses, with the opening one as the current token.
  mutating func group() throws(FormatFault) -> FormatNode {
    let outer = closer
    try enter()
    try advance()
    closer = "')'"
    let node = try disjunction()
    try closeGroup(of: node)
    level -= 1
    closer = outer
    return node
  }

  /// Parses the closing parenthesis after `node`, which is `nil` where only an operand is allowed.
  mutating func closeGroup(of node: FormatNode?) throws(FormatFault) {
    guard token.kind == .closeParenthesis else { throw unclosed(node) }
    try advance()
  }

  @inline(never)
  private func unclosed(_ node: FormatNode?) -> FormatFault {
    if case .condition = node { return misplaced("AND, OR or ')'") }
    if case .operand(let operand) = node, case .path = operand.tree {
      return misplaced("an operator, AND, OR or ')'\(listHint)")
    }
    return misplaced("an operator or ')'\(listHint)")
  }

  /// A hint for lists in parentheses, as SQL has them.
  private var listHint: String {
    token.kind == .comma ? " (a list is written in braces, { a, b })" : ""
  }
}
