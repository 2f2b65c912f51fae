/// The reason why the pattern of a LIKE or MATCHES cannot be used.
struct PatternError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The reason as a clause, with the expected form if there is one.
  var message: String
  /// The UTF-8 offset in the pattern, if it is known.
  var offset: Int?

  init(_ message: String, at offset: Int? = nil) {
    self.message = message
    self.offset = offset
  }

  var description: String { message }
}
