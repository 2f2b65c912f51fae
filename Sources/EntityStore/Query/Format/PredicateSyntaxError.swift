/// What is wrong with a format string, and where.
public struct PredicateSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The line, from 1; lines end with a line feed.
  public let line: Int
  /// The column, from 1, in Unicode scalars.
  public let column: Int
  /// The unexpected token, cut to 64 bytes; empty at the end of the text.
  public let token: String
  /// What was expected, in words.
  public let expected: String
  /// What was probably meant.
  public let suggestion: String?

  /// One line: where, what was found and what was expected.
  public var description: String {
    let found = token.isEmpty ? "the end" : "'\(ConditionPrinter.visible(token))'"
    let hint = suggestion.map { "; did you mean \($0)?" } ?? ""
    return "line \(line), column \(column): found \(found), expected \(expected)\(hint)"
  }

  init(
    at position: FormatPosition, token: String, expected: String, suggestion: String? = nil
  ) {
    line = position.line
    column = position.column
    self.token = token
    self.expected = expected
    self.suggestion = suggestion
  }
}

extension StoreError {
  static func unparsable(_ error: PredicateSyntaxError) -> StoreError {
    StoreError(.invalidQuery, "cannot parse the condition: \(error)", cause: error)
  }
}
