/// A line of the prompt: the words of a command without the store.
///
/// Quotes and backslashes work as in a shell. A condition needs no quotes around it if it follows
/// the entity at once: `query Pod license == "MIT" --sort name`. The condition ends before the
/// first option.
struct ShellLine {
  /// A word as it is typed, and the text that it stands for.
  private struct Word {
    var raw: Substring
    var text: String
    /// Whether the word has all its quotes, and something after each backslash.
    var isClosed: Bool
  }

  /// The name of the command; empty for an empty line.
  private(set) var name = ""
  /// The words after the name.
  private(set) var arguments: [String] = []
  /// Whether the line is a command, and not the beginning of one.
  ///
  /// The next line continues a line with an open quote, and a condition with an open bracket or an
  /// operator at its end.
  private(set) var isComplete = true

  /// The commands whose condition follows the entity.
  static let commandsOfConditions: Set = ["query", "count", "explain", "delete", "watch"]

  init(_ line: String) {
    var rest = line[...]
    guard let first = Self.nextWord(of: &rest), !first.text.hasPrefix("#") else { return }
    name = first.text
    isComplete = first.isClosed
    if Self.commandsOfConditions.contains(name) {
      var region = rest
      if let entity = Self.nextWord(of: &region), entity.isClosed, !entity.text.hasPrefix("-"),
        let condition = Self.condition(at: &region)
      {
        rest = region
        isComplete = condition.isComplete
        arguments = [entity.text]
        // The parser would take a leading minus for an option.
        if condition.text.hasPrefix("-") {
          addWords(of: rest)
          arguments += ["--", condition.text]
          return
        }
        arguments.append(condition.text)
      }
    }
    addWords(of: rest)
  }

  private mutating func addWords(of text: Substring) {
    var rest = text
    while let word = Self.nextWord(of: &rest) {
      arguments.append(word.text)
      isComplete = isComplete && word.isClosed
    }
  }

  // MARK: Words

  private static func nextWord(of rest: inout Substring) -> Word? {
    rest = rest.drop(while: \.isWhitespace)
    guard !rest.isEmpty else { return nil }
    var text = ""
    var quote: Character?
    var isEscaped = false
    var position = rest.startIndex
    while position < rest.endIndex {
      let character = rest[position]
      if isEscaped {
        // A backslash before the end of a line joins the lines.
        if character != "\n" { text.append(character) }
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
      } else if let open = quote {
        if character == open { quote = nil } else { text.append(character) }
      } else if character == "'" || character == "\"" {
        quote = character
      } else if character.isWhitespace {
        break
      } else {
        text.append(character)
      }
      position = rest.index(after: position)
    }
    defer { rest = rest[position...] }
    return Word(raw: rest[..<position], text: text, isClosed: quote == nil && !isEscaped)
  }

  // MARK: Conditions

  /// Takes a condition without quotes around it from the beginning of `rest`.
  ///
  /// - Returns: `nil` without a condition, or for a condition in quotes, which is a word as in a
  ///   shell.
  private static func condition(at rest: inout Substring) -> (text: String, isComplete: Bool)? {
    let start = rest.drop(while: \.isWhitespace)
    guard let first = start.first, !isOption(start) else { return nil }
    if first == "'" || first == "\"" {
      var after = start
      guard let word = nextWord(of: &after), word.isClosed else { return nil }
      after = after.drop(while: \.isWhitespace)
      let isOneWord = word.raw.dropFirst().firstIndex(of: first) == word.raw.indices.last
      if isOneWord, after.isEmpty || isOption(after) { return nil }
    }
    var scan = ConditionScan()
    var end = start.startIndex
    while end < start.endIndex {
      if scan.isBetweenWords, isOption(start[end...]) { break }
      scan.add(start[end])
      end = start.index(after: end)
    }
    rest = start[end...]
    let text = String(start[..<end]).trimmingSpaces
    return (text, scan.isClosed && !endsWithOperator(text))
  }

  /// Whether a text begins with an option, such as `--sort` or `-q`.
  private static func isOption(_ text: Substring) -> Bool {
    if text.hasPrefix("--") { return text.dropFirst(2).first?.isLetter ?? true }
    let next = text.dropFirst(2).first
    return (text.hasPrefix("-q") || text.hasPrefix("-h")) && (next?.isWhitespace ?? true)
  }

  /// The state of a condition's quotes and brackets.
  struct ConditionScan {
    private var quote: Character?
    private var isEscaped = false
    private var depth = 0
    private(set) var isBetweenWords = true

    var isClosed: Bool { quote == nil && depth <= 0 }
    var isInQuotes: Bool { quote != nil }

    mutating func add(_ character: Character) {
      isBetweenWords = quote == nil && character.isWhitespace
      if isEscaped {
        isEscaped = false
      } else if let open = quote {
        if character == "\\" { isEscaped = true }
        if character == open { quote = nil }
      } else {
        switch character {
        case "'", "\"": quote = character
        case "(", "{", "[": depth += 1
        case ")", "}", "]": depth -= 1
        default: break
        }
      }
    }
  }

  /// The operators that are words, after which a condition goes on.
  static let operators: Set = [
    "AND", "OR", "NOT", "IN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES", "BETWEEN",
    "ANY", "ALL", "NONE", "SOME",
  ]

  private static func endsWithOperator(_ text: String) -> Bool {
    guard let last = text.last else { return false }
    if "=<>!&|,+*/".contains(last) { return true }
    guard let word = text.split(whereSeparator: \.isWhitespace).last, word != text else {
      return false
    }
    return operators.contains(word.prefix { $0 != "[" }.uppercased())
  }
}

extension String {
  fileprivate var trimmingSpaces: String {
    var text = self[...].drop(while: \.isWhitespace)
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }
}
