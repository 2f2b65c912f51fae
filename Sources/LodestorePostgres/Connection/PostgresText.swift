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
  private static func doubled(_ text: String, _ quote: Character) -> String {
    var result = ""
    for character in text where character != "\0" {
      if character == quote { result.append(quote) }
      result.append(character)
    }
    return result
  }
}
