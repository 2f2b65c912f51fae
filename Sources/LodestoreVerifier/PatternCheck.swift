/// Checks whether a text is a pattern by the table in Format.md, "Patterns".
///
/// The code shares nothing with the store's regular expressions; a test compares the patterns that
/// both accept. Only nested classes use recursion, and their nesting is limited.
struct PatternCheck {
  static let deepestGroup = 200
  static let deepestClass = 20
  static let longest = 4_096
  static let mostSteps = 19_999
  /// The highest number in the braces of a quantifier.
  static let highestCount = 20_000

  /// An open group, or the whole pattern.
  private struct Group {
    /// The number of steps of the finished parts, with repetitions written out.
    var steps = 0
    var alternativeCount = 1
    /// The steps of the last part; `nil` if no quantifier may follow it.
    var last: Int?
    /// The value of `ignoresBlanks` to restore after the group.
    var ignoresBlanks: Bool
    var parts: [(steps: Int, isAnchor: Bool)] = []
  }

  var scalars: [Unicode.Scalar]
  var position = 0
  var ignoresBlanks = false
  private var groups: [Group] = []

  private init(_ pattern: String) { scalars = Array(pattern.unicodeScalars) }

  /// The fault of `pattern`, as a clause; `nil` if it is valid.
  static func fault(in pattern: String) -> String? {
    let length = pattern.utf8.count
    if length > longest { return "has \(length) bytes, at most \(longest)" }
    var check = PatternCheck(pattern)
    return check.fault()
  }

  private mutating func fault() -> String? {
    groups = [Group(ignoresBlanks: false)]
    while let scalar = peek() {
      let start = position
      position += 1
      guard readPart(scalar) else { return "cannot be read at scalar \(start)" }
    }
    guard groups.count == 1, let root = groups.last else { return "has a group without an end" }
    var steps = root.steps + (root.alternativeCount - 1) * 2
    // Anchors at the ends always match, because the match covers the whole text.
    if root.alternativeCount == 1 {
      let inner = root.parts.drop { $0.isAnchor }
      steps -= root.parts.count - inner.count
      steps -= inner.reversed().prefix { $0.isAnchor }.count
    }
    return steps > Self.mostSteps ? "has more than \(Self.mostSteps) steps when written out" : nil
  }

  private mutating func readPart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "(": return openGroup()
    case ")": return closeGroup()
    case "|":
      groups[groups.count - 1].alternativeCount += 1
      groups[groups.count - 1].last = nil
      return true
    case "*", "+": return repeatLast(scalar == "*" ? 0 : 1, nil)
    case "?": return repeatLast(0, 1)
    case "{":
      guard let (least, most) = readBounds() else { return false }
      return repeatLast(least, most)
    case "^", "$": return append(1, isAnchor: true)
    case "[": return readClass(depth: 0) && append(1)
    case "\\": return readEscape()
    case "#" where ignoresBlanks:
      while let next = peek(), !PatternNames.isLineEnd(next) { position += 1 }
      return true
    case _ where ignoresBlanks && scalar.properties.isPatternWhitespace: return true
    default: return append(1)
    }
  }

  // MARK: Scalars

  func peek() -> Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  mutating func take(_ text: String) -> Bool {
    let wanted = Array(text.unicodeScalars)
    guard scalars[position...].starts(with: wanted) else { return false }
    position += wanted.count
    return true
  }

  // MARK: Parts of a pattern

  private mutating func append(_ steps: Int, isAnchor: Bool = false) -> Bool {
    let top = groups.count - 1
    // The number is limited to a value far above the allowed maximum, so that it cannot overflow.
    groups[top].steps = min(groups[top].steps + steps, 1 << 40)
    groups[top].last = steps
    if top == 0 { groups[top].parts.append((steps, isAnchor)) }
    return true
  }

  private mutating func openGroup() -> Bool {
    guard groups.count <= Self.deepestGroup else { return false }
    let outer = ignoresBlanks
    if take("?") {
      if take("#") {
        while let scalar = peek() {
          position += 1
          if scalar == ")" { return true }
        }
        return false
      }
      if take("<") || take("P<") {
        let nameStart = position
        while let scalar = peek(),
          scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
        {
          position += 1
        }
        guard position > nameStart, take(">") else { return false }
      } else if !take(":") {
        guard let opensGroup = readFlags() else { return false }
        if !opensGroup { return true }
      }
    }
    groups.append(Group(ignoresBlanks: outer))
    return true
  }

  /// Reads `i)` or `i-s:` and returns whether a group follows; `nil` if the flags are invalid.
  private mutating func readFlags() -> Bool? {
    var isOn = true
    while let scalar = peek() {
      position += 1
      switch scalar {
      case "i", "s", "m": break
      case "x": ignoresBlanks = isOn
      case "-" where isOn: isOn = false
      case ":": return true
      case ")":
        groups[groups.count - 1].last = nil
        return false
      default: return nil
      }
    }
    return nil
  }

  private mutating func closeGroup() -> Bool {
    guard groups.count > 1, let group = groups.popLast() else { return false }
    ignoresBlanks = group.ignoresBlanks
    return append(group.steps + (group.alternativeCount - 1) * 2)
  }

  private mutating func repeatLast(_ least: Int, _ most: Int?) -> Bool {
    let top = groups.count - 1
    guard let steps = groups[top].last, !take("+") else { return false }
    _ = take("?")
    var all = least * steps
    if least == 0 || steps > 0 { all += most.map { ($0 - least) * (steps + 1) } ?? steps + 2 }
    groups[top].steps -= steps
    if top == 0 { groups[top].parts.removeLast() }
    _ = append(min(all, 1 << 40))
    groups[top].last = nil
    return true
  }

  /// Reads `n}`, `n,}` or `n,m}`.
  private mutating func readBounds() -> (Int, Int?)? {
    guard let least = readCount() else { return nil }
    if take("}") { return (least, least) }
    guard take(",") else { return nil }
    if take("}") { return (least, nil) }
    guard let most = readCount(), take("}"), most >= least else { return nil }
    return (least, most)
  }

  private mutating func readCount() -> Int? {
    var count: Int?
    while let scalar = peek(), ("0"..."9").contains(scalar) {
      position += 1
      count = (count ?? 0) * 10 + Int(scalar.value - 0x30)
      if let count, count > Self.highestCount { return nil }
    }
    return count
  }

  private mutating func readEscape() -> Bool {
    guard let scalar = peek() else { return false }
    switch scalar {
    case "b", "B":
      position += 1
      return append(1)
    case "A", "z", "Z":
      position += 1
      return append(1, isAnchor: true)
    case "R":
      position += 1
      // `\R` matches CR LF or another line end, and is counted as five steps of the pattern.
      return append(5)
    case "Q":
      position += 1
      while peek() != nil, !take("\\E") {
        position += 1
        _ = append(1)
      }
      return true
    default: return readCommonEscape() != nil && append(1)
    }
  }
}
