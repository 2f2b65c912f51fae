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
  /// The entry of each table in the publication, by which a changed publication is found.
  var publications: [String: String] = [:]
}

extension SourceCursor {
  /// Reads the position that a store has in a slot; `nil` for none.
  static func read(_ slot: String, in store: Store) throws -> SourceCursor? {
    guard let data = try store.read({ try $0.replicationMark(for: slot) }) else { return nil }
    return try JSONDecoder().decode(SourceCursor.self, from: data)
  }
}

extension SourceCursor {
  /// Notes the form of the tables.
  mutating func note(_ plans: [TablePlan]) {
    tables = [:]
    publications = [:]
    for plan in plans {
      tables[plan.table.label] = plan.signature
      publications[plan.table.label] = plan.publicationEntry
    }
  }

  /// Throws when tables of the server are no longer those of the copy.
  func check(_ now: SourceCursor, publication: String) throws(PostgresError) {
    let names = Set(tables.keys).union(now.tables.keys).sorted()
    if let table = names.first(where: { now.tables[$0] != tables[$0] }) {
      throw PostgresError(
        .relationChanged,
        "\(table) has other columns, or another key, than when it was copied, or it was added to "
          + "or taken from the source; call copyAgain(into:)", table: table)
    }
    if let table = names.first(where: { now.publications[$0] != publications[$0] }) {
      throw PostgresError(
        .relationChanged,
        "publication '\(publication)' or the entry of \(table) in it was changed after the copy, "
          + "so the server may have left out changes; call copyAgain(into:)", table: table)
    }
  }
}
