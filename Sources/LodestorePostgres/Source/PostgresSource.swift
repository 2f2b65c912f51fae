public import EntityStore
public import LodestoreEssentials

/// A table of a database, with the entity that its rows become.
public struct PostgresTable: Sendable {
  /// The name of the schema in the database.
  public var schema: String
  /// The name of the table in the schema.
  public var name: String
  /// The name of the entity; `nil` for the name of the table.
  public var entity: String?
  /// The attribute of each column, where the names differ.
  public var attributes: [String: String] = [:]
  /// The columns that are not replicated.
  public var ignored: Set<String> = []

  /// A table whose entity has its name; the source declares the entity if the store lacks it.
  public init(_ name: String, schema: String = "public", entity: String? = nil) {
    self.name = name
    self.schema = schema
    self.entity = entity
  }

  /// A table whose rows are records of a program's entity.
  ///
  /// - Parameters:
  ///   - attributes: the attribute of each column, where the names differ.
  ///   - ignored: the columns that are not replicated.
  public init<E: Entity>(
    _ name: String, schema: String = "public", as _: E.Type, attributes: [String: String] = [:],
    ignoring ignored: Set<String> = []
  ) {
    self.init(name, schema: schema, entity: E.schema.name)
    self.attributes = attributes
    self.ignored = ignored
  }

  var label: String { "\(schema).\(name)" }
}

/// A PostgreSQL database whose tables a store follows.
///
/// The source copies the tables in one snapshot, and then applies the changes after the snapshot.
/// The position in the server's log is committed together with the rows that it covers, so each
/// change is applied exactly once. While the first copy runs, a reader sees a part of the rows;
/// ``PostgresStatus/phase`` tells when the store is whole.
///
///     let source = PostgresSource(
///       "host=db.example dbname=shop", slot: "shop_cache",
///       tables: [PostgresTable("customers", as: Customer.self)])
///     let follower = source.follow(into: store)
///
/// The server must be PostgreSQL 14 or later with `wal_level = logical`. Each table needs a primary
/// key, or a unique index as its replica identity. The attributes of the key must have a unique
/// index in the entity.
public struct PostgresSource: Sendable {
  /// The rules of a source.
  public struct Options: Sendable {
    /// The publication; `nil` for the name of the slot.
    public var publication: String?
    /// Whether a missing publication is created, and a copy adds missing tables to it.
    ///
    /// The role must own the tables, and have the right `CREATE` in the database.
    public var createsPublication = true
    /// The treatment of infinite dates.
    public var infiniteDates = InfiniteDates.refuse
    /// The number of rows after which a group of a copy, or of small transactions, is committed.
    public var groupSize = 20_000
    /// The number of bytes of one transaction above which it is refused.
    public var transactionSizeLimitInBytes = 1 << 30
    /// Whether lost log, or a lost slot, leads to another copy; otherwise the source stops.
    public var copiesAgainAfterLostLog = true
    /// Whether an altered table leads to another copy; otherwise the source stops.
    ///
    /// An entity that the source has declared then gets the new columns, and loses the dropped
    /// ones.
    public var copiesAgainAfterAlteration = false
    /// The wait before the first attempt to connect again; doubled up to ``longestWait``.
    ///
    /// The default is half a second.
    public var firstWait = Duration.milliseconds(500)
    /// The longest wait between two attempts to connect.
    ///
    /// The wait is this long after the server has refused the role or its password. The default is
    /// 30 seconds.
    public var longestWait = Duration.seconds(30)
    /// The interval at which the tables and the publication are compared with the copy.
    ///
    /// The default is a minute.
    /// The server does not send that a table was dropped or taken out of the publication, so a
    /// second connection asks for it.
    public var catalogueInterval = Duration.seconds(60)

    /// The standard rules.
    public init() {}
  }

  /// The connection string of libpq.
  public var connection: String
  /// The name of the replication slot: small letters, digits and underscores.
  ///
  /// Only one store can use a slot. The server keeps log for it until the slot is dropped.
  public var slot: String
  /// The followed tables.
  public var tables: [PostgresTable]
  /// The rules of the source.
  public var options: Options

  /// Creates a source; connects to nothing.
  public init(
    _ connection: String, slot: String, tables: [PostgresTable], options: Options = Options()
  ) {
    self.connection = connection
    self.slot = slot
    self.tables = tables
    self.options = options
  }

  var publication: String { options.publication ?? slot }

  /// Returns the part of the database that a store has; connects to nothing.
  ///
  /// A program that starts without the server reads here whether its store is whole, and how old it
  /// is.
  public func copyState(of store: Store) throws -> PostgresCopyState {
    let cursor = try SourceCursor.read(slot, in: store)
    return PostgresCopyState(
      isComplete: cursor?.isCopied ?? false,
      position: cursor.flatMap { $0.isCopied ? $0.position : nil },
      lastCommit: cursor?.time.map { Date(timeIntervalSinceReferenceDate: $0) })
  }
}

/// The part of a database that a store has.
public struct PostgresCopyState: Sendable, Equatable {
  /// Whether the store has all rows as of one moment of the server.
  ///
  /// The value is false before the first copy has ended, and while a repeated copy runs.
  public var isComplete: Bool
  /// The position up to which all changes are in the store; `nil` before a copy is complete.
  public var position: LogPosition?
  /// The server's time of the last commit in the store, or of the copy; `nil` before a copy.
  public var lastCommit: Date?
}

/// The state of a source.
public struct PostgresStatus: Sendable {
  /// The work of a source.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Phase: Sendable {
    /// The source connects to the server and prepares the slot.
    case connecting
    /// The rows of a table are copied.
    case copying(table: String)
    /// The copy is complete, and changes are applied as they come.
    case following
    /// The connection was lost; the source connects again after the duration.
    case waiting(for: Duration, PostgresError)
    /// The source has ended; the error is `nil` after ``PostgresFollower/stop()``.
    case stopped((any Error)?)
  }

  /// The present work.
  public var phase = Phase.connecting
  /// The error that ended the last connection; `nil` after the source has connected again.
  ///
  /// Unlike ``phase``, the value stays during further attempts. An error with the code
  /// ``PostgresError/Code/accessDenied`` needs a new password or another right. While the source
  /// follows, the value is the error of a comparison that could not be made; see
  /// ``PostgresSource/Options/catalogueInterval``.
  public var lastFailure: PostgresError?
  /// The position up to which all changes are in the store.
  public var position: LogPosition?
  /// The last known end of the server's log.
  public var serverEnd: LogPosition?
  /// The server's time of the last commit in the store.
  public var lastCommit: Date?
  /// The number of rows of all tables, as the server's planner assumes it; `nil` if unknown.
  ///
  /// Only a copy sets it. A row count of a table that was never analysed is unknown.
  public var estimatedRows: Int?
  /// The number of rows that copies have written since the source was started.
  public var copiedRows = 0
  /// The number of the server's transactions after the copy.
  public var appliedTransactions = 0
  /// The number of changes of followed rows after the copy.
  public var appliedChanges = 0
  /// The reasons of repeated copies.
  public var repeatedCopies: [String] = []

  /// The bytes of log that are not in the store.
  public var lagInBytes: UInt64? {
    guard let position, let serverEnd else { return nil }
    return serverEnd > position ? serverEnd.rawValue - position.rawValue : 0
  }
}

extension PostgresStatus {
  mutating func note(_ cursor: SourceCursor) {
    position = cursor.position
    note(time: cursor.time)
  }

  mutating func note(time: Double?) {
    lastCommit = time.map { Date(timeIntervalSinceReferenceDate: $0) }
  }
}
