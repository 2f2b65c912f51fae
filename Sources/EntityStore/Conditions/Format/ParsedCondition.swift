/// The result of parsing a format string.
struct ParsedCondition: Sendable {
  var tree: ConditionTree
  /// The position of the first use of each key path and unbound variable, keyed by its text from
  /// ``ConditionPrinter``.
  ///
  /// The positions locate errors found later, when names and types are resolved.
  var positions: [String: FormatPosition] = [:]
}
