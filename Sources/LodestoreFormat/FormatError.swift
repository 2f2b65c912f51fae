/// Bytes that break Format.md: what was found, what the document asks for, and where.
@_documentation(visibility: internal)
public struct FormatError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The fact found and the fact expected, as a clause.
  package var reason: String
  /// The rule that they break, where it is one that a file is checked for.
  package var rule: FormatRule?
  /// Where in the value's bytes, when that is known.
  package var offset: Int?

  package init(_ reason: String, _ rule: FormatRule? = nil, at offset: Int? = nil) {
    self.reason = reason
    self.rule = rule
    self.offset = offset
  }

  /// The reason, and where.
  @_documentation(visibility: internal)
  public var description: String {
    offset.map { "\(reason) (at byte \($0))" } ?? reason
  }
}
