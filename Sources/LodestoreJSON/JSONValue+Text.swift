extension JSONValue {
  /// Parses a JSON text by RFC 8259 and refuses text that readers interpret differently.
  ///
  /// Valid syntax is also refused in some cases: duplicate keys in an object, integers outside 64
  /// bits, numbers that become infinity or zero as a double. At most 128 levels and 64 MiB are
  /// accepted. `-0` is the integer 0.
  ///
  /// - Throws: `JSONError` with line, column and byte offset.
  public init(parsing text: String) throws(JSONError) {
    self = try JSONDocument.parsing(text.utf8).root.jsonValue
  }

  /// Parses a JSON text in UTF-8, with the rules of `init(parsing:)` for strings.
  ///
  /// - Throws: `JSONError` with line, column and byte offset.
  public init(parsing bytes: some Collection<UInt8>) throws(JSONError) {
    self = try JSONDocument.parsing(bytes).root.jsonValue
  }
}
