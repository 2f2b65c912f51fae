/// Parses a regular expression in the commonly used part of ICU's syntax.
///
/// Only nested classes are parsed recursively, and their depth is limited, so no pattern exhausts
/// the stack.
struct ExpressionParser {
  static let deepestGroup = 200
  static let deepestClass = 20
  static let longestPattern = 4_096

  struct Flags {
    var isCaseless = false
    var dotMatchesAll = false
    var isMultiline = false
    var ignoresBlanks = false
  }

  /// An open group, or the whole pattern.
  private struct Group {
    var offset: Int
    var alternatives: [ExpressionNode] = []
    var sequence: [ExpressionNode] = []
    /// The flags to restore after the group.
    var flags: Flags
    /// Whether the last node may be followed by a quantifier.
    var isRepeatable = false
  }

  var scalars: [Unicode.Scalar]
  /// The index of the next scalar.
  var position = 0
  var flags = Flags()
  private(set) var sets: [ScalarSet] = []
  private var groups: [Group] = []
  /// The UTF-8 offsets of the scalars and of the end.
  private var offsets: [Int] = [0]

  init(_ pattern: String, isCaseless: Bool) throws(PatternError) {
    let length = pattern.utf8.count
    guard length <= Self.longestPattern else {
      throw PatternError(
        "a regular expression has \(length) bytes, at most \(Self.longestPattern) are allowed")
    }
    scalars = Array(pattern.unicodeScalars)
    var offset = 0
    for scalar in scalars {
      offset += UTF8.width(scalar)
      offsets.append(offset)
    }
    flags.isCaseless = isCaseless
  }

  mutating func parse() throws(PatternError) -> ExpressionNode {
    groups = [Group(offset: 0, flags: flags)]
    while let scalar = peek() {
      let start = position
      position += 1
      switch scalar {
      case "(": try openGroup(start)
      case ")": try closeGroup(start)
      case "|":
        finishAlternative()
        setRepeatable(false)
      case "*": try repeatLast(0, nil, start)
      case "+": try repeatLast(1, nil, start)
      case "?": try repeatLast(0, 1, start)
      case "{":
        let bounds = try readBounds(start)
        try repeatLast(bounds.0, bounds.1, start)
      case ".": append(set: flags.dotMatchesAll ? .property(.any) : .dot)
      case "^": append(.assertion(flags.isMultiline ? .lineStart : .textStart))
      case "$": append(.assertion(flags.isMultiline ? .lineEnd : .textEndOrLastLineEnd))
      case "[": append(set: try readClass(start, depth: 0))
      case "\\": try readEscape(start)
      case "#" where flags.ignoresBlanks:
        while let next = peek(), !LineEnd.contains(next.value) { position += 1 }
      case _ where flags.ignoresBlanks && scalar.properties.isPatternWhitespace: break
      default: append(literal: scalar.value)
      }
    }
    guard groups.count == 1 else {
      throw PatternError("the group at \(lastGroup.offset) is not closed", at: lastGroup.offset)
    }
    finishAlternative()
    return Self.choice(lastGroup.alternatives)
  }

  // MARK: Scalars

  func peek() -> Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  mutating func take(_ text: String) -> Bool {
    let wanted = Array(text.unicodeScalars)
    guard scalars.count - position >= wanted.count,
      scalars[position..<(position + wanted.count)].elementsEqual(wanted)
    else { return false }
    position += wanted.count
    return true
  }

  func offset(_ position: Int) -> Int { offsets[min(position, offsets.count - 1)] }

  func error(_ what: String, _ position: Int, _ rest: String) -> PatternError {
    PatternError("\(what) at \(offset(position)) \(rest)", at: offset(position))
  }

  // MARK: Nodes

  private var lastGroup: Group {
    get { groups[groups.count - 1] }
    set { groups[groups.count - 1] = newValue }
  }

  mutating func append(_ node: ExpressionNode) {
    groups[groups.count - 1].sequence.append(node)
    setRepeatable(true)
  }

  mutating func replaceLast(with node: ExpressionNode) {
    groups[groups.count - 1].sequence.removeLast()
    append(node)
  }

  mutating func append(literal value: UInt32) {
    append(flags.isCaseless ? .caselessScalar(TextFolding.simpleFold(value)) : .scalar(value))
  }

  mutating func append(set: ScalarSet) {
    sets.append(set)
    append(.set(sets.count - 1))
  }

  private mutating func setRepeatable(_ isRepeatable: Bool) {
    groups[groups.count - 1].isRepeatable = isRepeatable
  }

  private mutating func finishAlternative() {
    let sequence = groups[groups.count - 1].sequence
    groups[groups.count - 1].sequence = []
    groups[groups.count - 1].alternatives.append(
      sequence.count == 1 ? sequence[0] : .sequence(sequence))
  }

  private static func choice(_ alternatives: [ExpressionNode]) -> ExpressionNode {
    alternatives.count == 1 ? alternatives[0] : .choice(alternatives)
  }

  // MARK: Groups

  private mutating func openGroup(_ start: Int) throws(PatternError) {
    guard groups.count <= Self.deepestGroup else {
      throw error("the group", start, "is nested deeper than \(Self.deepestGroup)")
    }
    let outer = flags
    if take("?") {
      if take("#") {
        while let scalar = peek() {
          position += 1
          if scalar == ")" { return }
        }
        throw error("the comment", start, "is not closed")
      }
      if take("=") || take("!") || take("<=") || take("<!") {
        throw error("lookaround", start, "is not supported: it cannot be matched in linear time")
      }
      if take(">") {
        throw error(
          "an atomic group", start, "is not supported: it changes what the text can match")
      }
      if take("<") || take("P<") {
        try readGroupName(start)
      } else if !take(":") {
        guard try readFlags(start) else { return }
      }
    }
    groups.append(Group(offset: offset(start), flags: outer))
  }

  private mutating func readGroupName(_ start: Int) throws(PatternError) {
    let nameStart = position
    while let scalar = peek(), scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) {
      position += 1
    }
    guard position > nameStart, take(">") else {
      throw error("the name of the group", start, "must be letters and digits, then '>'")
    }
  }

  /// Parses `i)` or `i-s:`, and returns whether a group follows.
  private mutating func readFlags(_ start: Int) throws(PatternError) -> Bool {
    var isOn = true
    while let scalar = peek() {
      position += 1
      switch scalar {
      case "i": flags.isCaseless = isOn
      case "s": flags.dotMatchesAll = isOn
      case "m": flags.isMultiline = isOn
      case "x": flags.ignoresBlanks = isOn
      case "-" where isOn: isOn = false
      case ":": return true
      case ")":
        setRepeatable(false)
        return false
      default:
        throw error(
          "the group", start,
          "starts with '(?' and '\(scalar)', expected ':', '<' or flags out of i, m, s and x")
      }
    }
    throw error("the group", start, "is not closed")
  }

  private mutating func closeGroup(_ start: Int) throws(PatternError) {
    guard groups.count > 1 else { throw error("the ')'", start, "closes no group") }
    finishAlternative()
    let group = groups.removeLast()
    flags = group.flags
    append(Self.choice(group.alternatives))
  }

  // MARK: Quantifiers

  private mutating func repeatLast(
    _ atLeast: Int, _ atMost: Int?, _ start: Int
  ) throws(PatternError) {
    guard lastGroup.isRepeatable, let node = lastGroup.sequence.last else {
      throw error("the quantifier", start, "has nothing before it to repeat")
    }
    if take("+") {
      throw error(
        "a possessive quantifier", start, "is not supported: it changes what the text can match")
    }
    // The whole text must match, so a lazy quantifier has the same effect as a greedy one.
    _ = take("?")
    groups[groups.count - 1].sequence.removeLast()
    append(.repeated(node, atLeast: atLeast, atMost: atMost))
    setRepeatable(false)
  }

  /// Parses `n}`, `n,}` or `n,m}`.
  private mutating func readBounds(_ start: Int) throws(PatternError) -> (Int, Int?) {
    guard let atLeast = try readCount(start) else {
      throw error("the '{'", start, "starts no {n}, {n,} or {n,m}; write \\{ for a brace")
    }
    if take("}") { return (atLeast, atLeast) }
    guard take(",") else { throw error("the '{'", start, "starts no {n}, {n,} or {n,m}") }
    if take("}") { return (atLeast, nil) }
    guard let atMost = try readCount(start), take("}"), atMost >= atLeast else {
      throw error("the '{'", start, "starts no {n}, {n,} or {n,m} with n not above m")
    }
    return (atLeast, atMost)
  }

  private mutating func readCount(_ start: Int) throws(PatternError) -> Int? {
    var count: Int?
    while let scalar = peek(), ("0"..."9").contains(scalar) {
      position += 1
      count = (count ?? 0) * 10 + Int(scalar.value - 0x30)
      if let count, count > ExpressionProgram.longest {
        throw error("the count", start, "is above \(ExpressionProgram.longest)")
      }
    }
    return count
  }
}
