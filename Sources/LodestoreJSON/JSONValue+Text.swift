extension JSONValue {
  /// Reads a JSON text as RFC 8259 has it, refusing what readers disagree on.
  ///
  /// Refused besides bad syntax: a key twice in an object, integers outside 64 bits, numbers that
  /// a double turns into infinity or zero, more than 128 levels, more than 64 MiB. `-0` is the
  /// integer 0.
  ///
  /// - Throws: `JSONError` with line, column and byte offset.
  public init(parsing text: String) throws(JSONError) {
    self = try JSONDocument.parsing(text.utf8).root.jsonValue
  }

  /// Reads a JSON text in UTF-8, as `init(parsing:)` for strings does.
  ///
  /// - Throws: `JSONError` with line, column and byte offset.
  public init(parsing bytes: some Collection<UInt8>) throws(JSONError) {
    self = try JSONDocument.parsing(bytes).root.jsonValue
  }
}
