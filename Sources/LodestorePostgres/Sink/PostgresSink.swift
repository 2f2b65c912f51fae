/// A PostgreSQL database that receives the content and the changes of a store.
///
/// Each entity is a table with the column `id`, the record's id, and a column for each attribute.
/// Each relationship with links of its own is a table with the columns `from_id` and `to_id`. The
/// number of the last write is committed together with the rows, so each write arrives exactly
/// once. A schema receives one store: a push of all records deletes all other rows.
/// The first push sends all records. Later pushes send the changes that the history records; an
/// entity without a history makes each push a whole one.
///
///     let sink = PostgresSink("host=db.example dbname=shop", schema: "catalogue")
///     for command in try await sink.plan(for: store) { print(command) }
///     try await sink.push(store)
public struct PostgresSink: Sendable {
  /// The connection string of libpq.
  public var connection: String
  /// The schema of the tables, which must exist; a push does not create it.
  public var schema: String
  /// The names of the entities; `nil` for all.
  public var entities: Set<String>?
  /// The bytes of rows after which a part is sent.
  public var partSizeInBytes = 4 << 20

  /// Creates a sink; connects to nothing.
  public init(_ connection: String, schema: String = "public", entities: Set<String>? = nil) {
    self.connection = connection
    self.schema = schema
    self.entities = entities
  }
}

/// The result of one push.
public struct PostgresPush: Sendable, Equatable {
  /// The number of the last write that the database has.
  public var lastWrite: UInt64 = 0
  /// Whether all records were sent, and rows without a record deleted.
  public var isWhole = false
  /// The number of inserted or updated rows of entities.
  public var sentRecords = 0
  /// The number of records that were deleted since the last push; 0 for a whole push.
  public var deletedRecords = 0
  /// The number of inserted rows of links.
  public var addedLinks = 0
  /// The number of deleted rows of links; 0 for a whole push.
  public var removedLinks = 0
}
