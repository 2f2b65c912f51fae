#if Postgres
  internal import CPostgres
  internal import LodestoreBytes
  import LodestoreSystem

  /// A connection to a PostgreSQL server, used by one thread.
  ///
  /// Each call blocks its thread until the server has answered. An interruption ends the wait
  /// within a fraction of a second; the connection cannot be used afterwards.
  final class PostgresConnection {
    /// The kind of session that the server gives the connection.
    enum Session {
      case queries
      /// A session that also accepts the commands of logical replication.
      case replication
    }

    let handle: OpaquePointer
    let interruption: PostgresInterruption
    /// The reason for which a wait must end, besides an interruption; `nil` for none.
    var reasonToStop: (() -> PostgresError?)?
    /// The server and the database, for messages.
    let label: String
    private static let pollMilliseconds: Int32 = 200

    /// Connects to a server.
    ///
    /// - Parameter parameters: a connection string of libpq, either `key=value` pairs or a URL.
    init(
      _ parameters: String, _ session: Session = .queries, interruption: PostgresInterruption
    ) throws(PostgresError) {
      // The connection string in `dbname` is expanded. The parameters before the string are
      // defaults, and the parameters after the string override its parts.
      var names = [
        "fallback_application_name", "connect_timeout", "keepalives_idle", "tcp_user_timeout",
        "dbname", "client_encoding",
      ]
      var values = ["lodestore", "15", "30", "60000", parameters, "UTF8"]
      if session == .replication {
        names.append("replication")
        values.append("database")
      }
      let started = Self.withPointers(names) { names in
        Self.withPointers(values) { values in PQconnectStartParams(names, values, 1) }
      }
      guard let started else {
        throw PostgresError(.connection, "cannot connect to PostgreSQL: out of memory")
      }
      handle = started
      self.interruption = interruption
      // Only verbose messages have the server's code. `PQreset` keeps the verbosity, connects from
      // the beginning, and tries each host of the connection string for `connect_timeout`.
      PQsetErrorVerbosity(started, PQERRORS_VERBOSE)
      let first = Self.message(of: started)
      PQreset(started)
      // The notices of commands would otherwise be printed.
      PQsetNoticeProcessor(started, { _, _ in }, nil)
      label = Self.label(of: started)
      guard PQstatus(started) == CONNECTION_OK else {
        // `PQreset` has no reason of its own where libpq cannot read the connection string.
        let isInvalid = PQerrorMessage(started).map { $0.pointee == 0 } ?? true
        throw ConnectionRefusal(isInvalid ? first : Self.message(of: started)).error(
          label, isInvalid: isInvalid, needsPassword: PQconnectionNeedsPassword(started) == 1)
      }
      PQsetErrorVerbosity(started, PQERRORS_DEFAULT)
    }

    deinit { PQfinish(handle) }

    var serverVersion: Int { Int(PQserverVersion(handle)) }

    // MARK: Commands

    /// Runs commands without parameters; returns the rows of the last one as texts.
    @discardableResult
    func run(_ sql: String) throws(PostgresError) -> [[String?]] {
      guard PQsendQuery(handle, sql) == 1 else { throw lost("send a command") }
      return try rows(sql)
    }

    /// Runs one command with parameters, which are sent as texts.
    @discardableResult
    func run(_ sql: String, _ parameters: [String?]) throws(PostgresError) -> [[String?]] {
      let isSent = Self.withOptionalPointers(parameters) { values in
        PQsendQueryParams(handle, sql, Int32(parameters.count), nil, values, nil, nil, 0) == 1
      }
      guard isSent else { throw lost("send a command") }
      return try rows(sql)
    }

    private func rows(_ sql: String) throws(PostgresError) -> [[String?]] {
      var rows: [[String?]] = []
      var failure: PostgresError?
      while let result = try nextResult() {
        defer { PQclear(result) }
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK: rows = []
        case PGRES_TUPLES_OK: rows = Self.texts(of: result)
        case PGRES_EMPTY_QUERY: break
        default: failure = failure ?? error(of: result, sql)
        }
      }
      if let failure { throw failure }
      return rows
    }

    /// Waits for the next result of the current command; `nil` when it has ended.
    func nextResult() throws(PostgresError) -> OpaquePointer? {
      while PQisBusy(handle) == 1 {
        try waitForInput(milliseconds: nil)
        guard PQconsumeInput(handle) == 1 else { throw lost("read an answer") }
      }
      return PQgetResult(handle)
    }

    /// Waits until the server has sent bytes; returns false after the time.
    @discardableResult
    func waitForInput(milliseconds: Int32?) throws(PostgresError) -> Bool {
      var left = milliseconds ?? .max
      while true {
        let wait = min(left, Self.pollMilliseconds)
        if try isReady(for: POLLIN, milliseconds: wait) { return true }
        if milliseconds != nil {
          left -= wait
          if left <= 0 { return false }
        }
      }
    }

    /// Waits for one of the events; returns false after the time, or earlier.
    func isReady(
      for events: Int32, milliseconds: Int32 = pollMilliseconds
    ) throws(PostgresError) -> Bool {
      try check()
      var entry = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
      guard entry.fd >= 0 else { throw lost("wait for the server") }
      let count = poll(&entry, 1, milliseconds)
      if count < 0, errno != EINTR { throw lost("wait for the server") }
      return count > 0
    }

    /// Throws when the work must end.
    func check() throws(PostgresError) {
      try interruption.check()
      if let reason = reasonToStop?() { throw reason }
    }

    // MARK: Errors

    func lost(_ action: String) -> PostgresError {
      PostgresError(
        .connection, "cannot \(action): PostgreSQL \(label): \(Self.message(of: handle))")
    }

    func error(of result: OpaquePointer, _ sql: String) -> PostgresError {
      func field(_ code: Character) -> String? {
        PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
      }
      let state = field("C")
      var message = field("M") ?? Self.message(of: handle)
      if let detail = field("D") { message += "; \(detail)" }
      if let hint = field("H") { message += "; \(hint)" }
      // Without a code the server did not answer: the connection was closed during the command.
      let code: PostgresError.Code =
        state == nil || PQstatus(handle) != CONNECTION_OK ? .connection : .server
      return PostgresError(
        code, "PostgreSQL \(label) refused '\(sql.prefix(120))': \(message)", sqlState: state,
        table: field("t"), column: field("c"))
    }

    // MARK: Texts of libpq

    private static func message(of handle: OpaquePointer) -> String {
      let text = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
      let lines = text.split(whereSeparator: \.isNewline)
      return lines.isEmpty ? "no reason was given" : lines.joined(separator: "; ")
    }

    private static func label(of handle: OpaquePointer) -> String {
      let name = PQdb(handle).map { String(cString: $0) } ?? "?"
      let host = PQhost(handle).map { String(cString: $0) } ?? "?"
      let port = PQport(handle).map { String(cString: $0) } ?? "?"
      return "'\(name)' at \(host):\(port)"
    }

    private static func texts(of result: OpaquePointer) -> [[String?]] {
      let columns = PQnfields(result)
      return (0..<PQntuples(result)).map { row in
        (0..<columns).map { column in
          if PQgetisnull(result, row, column) == 1 { return nil }
          return PQgetvalue(result, row, column).map { String(cString: $0) }
        }
      }
    }

    private static func withPointers<R>(
      _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> R
    ) -> R {
      withOptionalPointers(texts, body)
    }

    /// Calls `body` with the texts as C strings, and a null pointer after them.
    private static func withOptionalPointers<R>(
      _ texts: [String?], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> R
    ) -> R {
      let copies = texts.map { $0.flatMap { strdup($0) } }
      defer { for copy in copies { free(copy) } }
      let pointers = copies.map { $0.map { UnsafePointer($0) } } + [nil]
      return pointers.withUnsafeBufferPointer { buffer in
        guard let start = buffer.baseAddress else { preconditionFailure("an array with a null") }
        return body(start)
      }
    }
  }
#endif
