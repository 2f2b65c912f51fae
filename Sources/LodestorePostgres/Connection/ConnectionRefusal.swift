/// The message of a connection that was not made, with the code of the server in it.
struct ConnectionRefusal {
  /// The message without the code, and without the place in the server's source.
  let message: String
  /// The server's code; `nil` if no server has answered.
  let sqlState: String?

  /// Reads a verbose message of libpq, such as `… failed: FATAL:  28P01: password … failed`.
  ///
  /// The severity is in the language of the server. A message of several hosts has several codes,
  /// of which the last one counts.
  init(_ verbose: String) {
    let parts = verbose.split(separator: "; ").filter { !$0.hasPrefix("LOCATION:") }
    let text = parts.joined(separator: "; ")
    let code = #/:  (?<code>[0-9A-Z]{5}): /#
    sqlState = text.matches(of: code).last.map { String($0.output.code) }
    message = text.replacing(code, with: ":  ")
  }

  /// Returns the error, whose code tells whether another attempt may succeed.
  ///
  /// - Parameters:
  ///   - isInvalid: whether libpq cannot read the connection string.
  ///   - needsPassword: whether the server asked for a password and the string has none.
  func error(_ label: String, isInvalid: Bool, needsPassword: Bool) -> PostgresError {
    if isInvalid {
      return PostgresError(
        .accessDenied, "cannot connect to PostgreSQL: \(message); correct the connection string")
    }
    // Invalid authorization, and a database that does not exist.
    guard needsPassword || sqlState?.hasPrefix("28") == true || sqlState == "3D000" else {
      return PostgresError(
        .connection,
        "cannot connect to PostgreSQL \(label): \(message); check the connection string, and that "
          + "the server runs", sqlState: sqlState)
    }
    return PostgresError(
      .accessDenied,
      "PostgreSQL \(label) does not let the role in: \(message); check the role, its password and "
        + "the database in the connection string, and pg_hba.conf", sqlState: sqlState)
  }
}
