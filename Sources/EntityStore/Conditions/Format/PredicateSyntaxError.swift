public import LodestoreEssentials

/// A syntax error in a format string, with its position.
public struct PredicateSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The line, counted from 1.
  ///
  /// Lines end with a line feed.
  public let line: Int
  /// The column, counted from 1 in Unicode scalars.
  public let column: Int
  /// The unexpected token, cut to 64 bytes; empty at the end of the text.
  public let token: String
  /// The expected syntax, in words.
  public let expected: String
  /// The syntax that was probably meant.
  public let suggestion: String?

  /// The error in one line: the position, the token found and the expected syntax.
  public var description: String {
    let found = token.isEmpty ? "the end" : "'\(ConditionPrinter.visible(token))'"
    let hint = suggestion.map { "; did you mean \($0)?" } ?? ""
    return "line \(line), column \(column): found \(found), expected \(expected)\(hint)"
  }

  init(at position: FormatPosition, token: String, expected: String, suggestion: String? = nil) {
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

extension PredicateSyntaxError: LocalizedError {
  /// The message; Foundation and tools that print errors use this property.
  public var errorDescription: String? { description }
}
