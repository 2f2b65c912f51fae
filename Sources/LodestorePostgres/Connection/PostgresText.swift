/// Names and texts as parts of SQL commands.
enum SQL {
  /// A name in double quotes.
  static func name(_ name: String) -> String { "\"\(doubled(name, "\""))\"" }

  /// A name with the schema before it.
  static func name(_ schema: String, _ name: String) -> String {
    "\(Self.name(schema)).\(Self.name(name))"
  }

  /// A text in single quotes.
  static func text(_ text: String) -> String {
    // The server may read backslashes as escapes only in texts that begin with E.
    "'\(doubled(text, "'"))'"
  }

  /// Returns the text with each quote twice, and without the bytes that the server cannot store.
  ///
  /// A quote and a combining mark after it are one character of Swift, and two of the server.
  private static func doubled(_ text: String, _ quote: Unicode.Scalar) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars where scalar != "\0" {
      if scalar == quote { result.append(quote) }
      result.append(scalar)
    }
    return String(result)
  }
}
