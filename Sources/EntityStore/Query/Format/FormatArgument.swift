internal import LodestoreFormat

/// What `%@`, `%K` and the other marks of a format string, or a `$variable`, stand for.
enum FormatArgument: Sendable, Hashable {
  /// One constant; never read as text of the format.
  case value(Value)
  /// The right side of `IN` and `BETWEEN`.
  case list([Value])
  /// A key path such as `license.type`, for `%K` and for variables.
  case path(String)
}
