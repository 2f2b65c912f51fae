internal import LodestoreFormat

extension ConditionParser {
  /// Parses `%@`, `%K`, `%d` and so on, with the percent sign as the current token.
  @inline(never)
  mutating func argument() throws(FormatFault) -> DeepOperand {
    let kind = try argumentKind()
    let mark = token
    guard argumentsUsed < arguments.count else {
      throw fault(
        at: mark,
        "argument \(argumentsUsed + 1) for it (\(givenArguments) given)")
    }
    let argument = arguments[argumentsUsed]
    argumentsUsed += 1
    let fitting = fitting(argument, kind)
    guard let fitting else {
      throw fault(at: mark, "\(Self.words(kind)) as argument \(argumentsUsed)")
    }
    try advance()
    return try inserted(fitting, mark)
  }

  /// The number of arguments, in words.
  var givenArguments: String { "\(arguments.count) \(arguments.count == 1 ? "is" : "are")" }

  private enum ArgumentKind { case any, path, integer, number, text }

  /// Parses the letters after the percent sign, and extends the token to include them.
  private mutating func argumentKind() throws(FormatFault) -> ArgumentKind {
    var hasLength = false
    while [UInt8(ascii: "h"), UInt8(ascii: "l"), UInt8(ascii: "q")].contains(lexer.peek()) {
      hasLength = true
      lexer.at += 1
    }
    let letter = lexer.peek()
    let kind: ArgumentKind? =
      switch letter {
      case UInt8(ascii: "@") where !hasLength: .any
      case UInt8(ascii: "K") where !hasLength: .path
      case UInt8(ascii: "s") where !hasLength: .text
      case UInt8(ascii: "d"), UInt8(ascii: "i"), UInt8(ascii: "u"): .integer
      case UInt8(ascii: "f"), UInt8(ascii: "e"), UInt8(ascii: "g"): .number
      default: nil
      }
    if kind != nil { lexer.at += 1 }
    while FormatLexer.isWordByte(lexer.peek()) { lexer.at += 1 }
    // An argument mark such as `%d` with further letters directly after it is unknown.
    let length = lexer.at - token.end
    token.end = lexer.at
    guard let kind, length == 1 || hasLength && isMark(token) else {
      throw fault(at: token, "%@, %K, %d, %i, %u, %ld, %f, %lf or %s")
    }
    return kind
  }

  /// Returns whether only length letters, as in `%ld`, stand between the percent sign and the last
  /// letter of an argument mark.
  private func isMark(_ token: FormatToken) -> Bool {
    bytes(of: token).dropFirst().dropLast().allSatisfy {
      [UInt8(ascii: "h"), UInt8(ascii: "l"), UInt8(ascii: "q")].contains($0)
    }
  }

  private func fitting(_ argument: FormatArgument, _ kind: ArgumentKind) -> FormatArgument? {
    switch (kind, argument) {
    case (.any, .value), (.any, .list), (.path, .path): argument
    case (.path, .value(.string(let text))): .path(text)
    case (.integer, .value(.integer)), (.integer, .value(.unsigned)), (.integer, .value(.bool)),
      (.number, .value(.double)), (.text, .value(.string)):
      argument
    case (.number, .value(.integer(let number))): .value(.double(Double(number)))
    case (.number, .value(.unsigned(let number))): .value(.double(Double(number)))
    default: nil
    }
  }

  private static func words(_ kind: ArgumentKind) -> String {
    switch kind {
    case .any: "a value (a key path is inserted by %K)"
    case .path: "a key path"
    case .integer: "an integer"
    case .number: "a number"
    case .text: "a string"
    }
  }
}
