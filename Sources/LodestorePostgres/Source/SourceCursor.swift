internal import EntityStore
internal import LodestoreEssentials

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
  /// The server's time of the last applied commit, or of the copy, in seconds since 2001.
  var time: Double?
  /// The entities that the source has declared, which an alteration of their tables may change.
  var entities: Set<String>
  /// The followed columns of each table, by which an altered table is found.
  var tables: [String: String]
}

extension SourceCursor {
  /// Reads the position that a store has in a slot; `nil` for none.
  static func read(_ slot: String, in store: Store) throws -> SourceCursor? {
    guard let data = try store.read({ try $0.replicationMark(for: slot) }) else { return nil }
    return try JSONDecoder().decode(SourceCursor.self, from: data)
  }
}
