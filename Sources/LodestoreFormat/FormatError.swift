/// A violation of Format.md: the bytes found, the expected form, and the place.
@_documentation(visibility: internal)
public struct FormatError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The fact found and the fact expected, as a clause.
  package var reason: String
  /// The violated rule; `nil` if the checks of files do not list the violated rule.
  package var rule: FormatRule?
  /// The offset within the value's bytes; `nil` if it is unknown.
  package var offset: Int?

  package init(_ reason: String, _ rule: FormatRule? = nil, at offset: Int? = nil) {
    self.reason = reason
    self.rule = rule
    self.offset = offset
  }

  /// The reason and the offset.
  @_documentation(visibility: internal)
  public var description: String { offset.map { "\(reason) (at byte \($0))" } ?? reason }
}

/// Throws an error for bytes that break `rule`, unless `isRight`.
///
/// For the catalogue and the history. Code that runs for each value throws by itself.
package func require(
  _ isRight: Bool, _ reason: @autoclosure () -> String, _ rule: FormatRule, at offset: Int? = nil
) throws(FormatError) {
  if !isRight { throw FormatError(reason(), rule, at: offset) }
}
