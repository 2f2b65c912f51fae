/// The position of a source, which is committed with the rows that it covers.
struct SourceCursor: Codable, Sendable, Equatable {
  /// The identity of the server's data.
  var server: String
  var database: String
  var slot: String
  /// The position after the last applied commit; 0 before the copy is complete.
  var position: LogPosition
  /// Whether the copy is complete.
  var isCopied: Bool
  /// The followed columns of each table, by which an altered table is found.
  var tables: [String: String]
}
