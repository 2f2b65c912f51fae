public import LodestoreEssentials

/// An error of the connection to a PostgreSQL server, or of the data on its way.
///
/// The message names the event, its table or column, and the next step.
public struct PostgresError: Error, Sendable, CustomStringConvertible {
  /// The kinds of errors.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Code: String, Sendable {
    /// The connection cannot be made, or is lost. The source and the sink connect again.
    case connection
    /// The server does not accept the role, its password or the database, or the connection string
    /// cannot be read.
    ///
    /// A source that has been connected before tries again, in case the password is being changed.
    case accessDenied
    /// The server refused a command; ``PostgresError/sqlState`` has its code.
    case server
    /// Bytes of the server do not have the form of the protocol.
    case malformed
    /// A column has a type without a counterpart in a store.
    case unsupportedType
    /// A value of a supported type has no counterpart in a store or a server.
    case unsupportedValue
    /// The server, the publication, or a table is not set up for logical replication.
    case badSetup
    /// A table does not fit its entity.
    case badMapping
    /// A followed table, or its place in the publication, was altered after the snapshot.
    case relationChanged
    /// The replication slot is gone, or the server has removed log that the slot needs.
    case slotLost
    /// Another connection reads the replication slot, or another store owns it.
    case slotInUse
    /// The server is another one than the cursor in the store names.
    case otherServer
    /// A transaction is larger than the limit.
    case tooLarge
    /// The store's snapshot was ended during a push, because of its age.
    case snapshotExpired
    /// The task was cancelled, or the source was stopped.
    case cancelled
  }

  /// The kind of the error.
  public let code: Code
  /// The event, its place, and the next step.
  public let message: String
  /// The five characters of the server's error code; `nil` if the server sent none.
  public var sqlState: String?
  /// The table that the error concerns; `nil` for none.
  public var table: String?
  /// The column that the error concerns; `nil` for none.
  public var column: String?
  /// The error that led to this one; `nil` for none.
  public var cause: (any Error)?

  /// Creates an error.
  public init(
    _ code: Code, _ message: String, sqlState: String? = nil, table: String? = nil,
    column: String? = nil, cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.sqlState = sqlState
    self.table = table
    self.column = column
    self.cause = cause
  }

  /// The message, with the server's error code.
  public var description: String {
    sqlState.map { "\(message) (SQLSTATE \($0))" } ?? message
  }

  /// Whether a new connection may succeed where this one failed.
  public var isTransient: Bool {
    if code == .connection { return true }
    guard code == .server, let sqlState else { return false }
    // Classes of PostgreSQL: connection exception, insufficient resources, operator intervention,
    // transaction rollback (serialization, deadlock).
    return sqlState.hasPrefix("08") || sqlState.hasPrefix("53") || sqlState.hasPrefix("57P")
      || sqlState.hasPrefix("40")
  }
}

extension PostgresError: LocalizedError {
  /// The message; Foundation and tools that print errors use this property.
  public var errorDescription: String? { description }
}
