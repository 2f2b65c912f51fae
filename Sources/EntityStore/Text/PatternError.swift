/// Why the pattern of a LIKE or MATCHES cannot be used.
struct PatternError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The fact found and the fact expected, as a clause.
  var message: String
  /// The offset in the UTF-8 of the pattern, if it is known.
  var offset: Int?

  init(_ message: String, at offset: Int? = nil) {
    self.message = message
    self.offset = offset
  }

  var description: String { message }
}
