/// A value of a column, in the form in which a store can hold it.
enum PostgresValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case integer(Int64)
  case double(Double)
  case numeric(PostgresNumeric)
  case text(String)
  case bytes([UInt8])
  /// The 16 bytes of a UUID as two big-endian words.
  case uuid(high: UInt64, low: UInt64)
  /// Seconds since 2001-01-01T00:00:00Z.
  case date(Double)
  /// The text of a JSON value.
  case json(String)
}

/// The treatment of the dates `infinity` and `-infinity`, which a store cannot hold.
public enum InfiniteDates: String, Sendable, Codable {
  /// The row is refused, and the error names its column.
  case refuse
  /// The date becomes null; the attribute must be optional.
  case null
  /// `infinity` becomes the first instant of the year 10000, and `-infinity` that of the year 1.
  case clamp
}
