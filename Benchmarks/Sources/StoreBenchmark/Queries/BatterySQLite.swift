#if SQLite
  import BenchmarkFigures
  import CSQLiteForBenchmarks

  /// The records of the battery in SQLite, with the same indexes, through SQLite's C interface.
  final class BatterySQLite {
    private let database: OpaquePointer
    private let settings = """
      PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144;
      PRAGMA mmap_size = 17179869184; PRAGMA temp_store = MEMORY
      """

    init(path: String) throws {
      var opened: OpaquePointer?
      let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
      let code = sqlite3_open_v2(path, &opened, flags, nil)
      guard code == SQLITE_OK, let opened else { throw BenchmarkError("SQLite: \(code)") }
      database = opened
      try run(settings)
    }

    deinit { sqlite3_close(database) }

    func run(_ sql: String) throws {
      guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else { throw failure(sql) }
    }

    private func failure(_ sql: String) -> BenchmarkError {
      BenchmarkError("SQLite: \(String(cString: sqlite3_errmsg(database))): \(sql.prefix(200))")
    }

    // MARK: Records

    func fill<E: BatteryEntity>(_: E.Type, count: Int) throws {
      let table = E.subject.rawValue
      let columns = E.columns.map { "\($0.name) \(Self.type($0.column))" }
      try run("CREATE TABLE \(table) (id INTEGER PRIMARY KEY, \(columns.joined(separator: ", ")))")
      try run("BEGIN")
      let places = Array(repeating: "?", count: columns.count + 1).joined(separator: ", ")
      try withStatement("INSERT INTO \(table) VALUES (\(places))") { statement in
        for number in 0..<count {
          sqlite3_bind_int64(statement, 1, Int64(number + 1))
          for (place, value) in E.numbered(number, of: count).values.enumerated() {
            Self.bind(value, to: statement, at: Int32(place + 2))
          }
          guard sqlite3_step(statement) == SQLITE_DONE else { throw failure(table) }
          sqlite3_reset(statement)
        }
      }
      for (place, index) in E.indexed.enumerated() {
        let isUnique = E.subject == .sighting && place == 0
        try run(
          "CREATE \(isUnique ? "UNIQUE " : "")INDEX \(table)_\(place) ON \(table) "
            + "(\(index.joined(separator: ", ")))")
      }
      try run("COMMIT")
    }

    /// Gathers statistics and empties the log, after all records are in.
    func settle() throws {
      try run("ANALYZE")
      try run("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    private static func type<E: BatteryEntity>(_ column: BatteryColumn<E>) -> String {
      switch column {
      case .int, .bool: "INTEGER NOT NULL"
      case .optionalInt: "INTEGER"
      case .double: "REAL NOT NULL"
      case .optionalDouble: "REAL"
      case .text: "TEXT NOT NULL"
      case .json: "TEXT"
      }
    }

    private static func bind(
      _ value: BatteryLiteral, to statement: OpaquePointer, at place: Int32
    ) {
      switch value {
      case .null: sqlite3_bind_null(statement, place)
      case .int(let number): sqlite3_bind_int64(statement, place, Int64(number))
      case .double(let number): sqlite3_bind_double(statement, place, number)
      case .bool(let flag): sqlite3_bind_int64(statement, place, flag ? 1 : 0)
      case .text(let text):
        // -1 is SQLITE_TRANSIENT: SQLite copies the text.
        let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        sqlite3_bind_text(statement, place, text, -1, copies)
      }
    }

    // MARK: Queries

    func withStatement<R>(_ sql: String, _ body: (OpaquePointer) throws -> R) throws -> R {
      var prepared: OpaquePointer?
      guard sqlite3_prepare_v2(database, sql, -1, &prepared, nil) == SQLITE_OK, let prepared else {
        throw failure(sql)
      }
      defer { sqlite3_finalize(prepared) }
      return try body(prepared)
    }

    private func forEachRow(_ sql: String, _ body: (OpaquePointer) -> Void) throws {
      try withStatement(sql) { statement in
        var code = sqlite3_step(statement)
        while code == SQLITE_ROW {
          body(statement)
          code = sqlite3_step(statement)
        }
        guard code == SQLITE_DONE else { throw failure(sql) }
      }
    }

    func number(_ sql: String) throws -> Int {
      var number = 0
      try forEachRow(sql) { number = Int(sqlite3_column_int64($0, 0)) }
      return number
    }

    /// Returns the first row of the result, by column name.
    func row(_ sql: String) throws -> [String: BatteryLiteral]? {
      var row: [String: BatteryLiteral]?
      try forEachRow(sql) { statement in
        var found: [String: BatteryLiteral] = [:]
        for place in 0..<sqlite3_column_count(statement) {
          guard let name = sqlite3_column_name(statement, place) else { continue }
          found[String(cString: name)] = Self.literal(statement, place)
        }
        row = found
      }
      return row
    }

    /// Returns SQLite's query plan as lines of text.
    func plan(_ sql: String) throws -> String {
      var lines: [String] = []
      try forEachRow("EXPLAIN QUERY PLAN " + sql) { statement in
        if case .text(let line) = Self.literal(statement, 3) { lines.append(line) }
      }
      return lines.joined(separator: "; ")
    }

    private static func literal(_ statement: OpaquePointer, _ place: Int32) -> BatteryLiteral {
      switch sqlite3_column_type(statement, place) {
      case SQLITE_NULL: .null
      case SQLITE_INTEGER: .int(Int(sqlite3_column_int64(statement, place)))
      case SQLITE_FLOAT: .double(sqlite3_column_double(statement, place))
      default: .text(String(decoding: text(statement, place), as: UTF8.self))
      }
    }

    private static func text(
      _ statement: OpaquePointer, _ place: Int32
    ) -> UnsafeBufferPointer<UInt8> {
      UnsafeBufferPointer(
        start: sqlite3_column_text(statement, place),
        count: Int(sqlite3_column_bytes(statement, place)))
    }

    private static func key(_ statement: OpaquePointer, _ place: Int32) -> UInt64 {
      switch sqlite3_column_type(statement, place) {
      case SQLITE_NULL: BatteryAnswer.nullKey
      case SQLITE_INTEGER: BatteryAnswer.key(Int(sqlite3_column_int64(statement, place)))
      case SQLITE_FLOAT: BatteryAnswer.key(sqlite3_column_double(statement, place))
      default: BatteryAnswer.key(utf8: text(statement, place))
      }
    }

    func answer(_ query: BatteryQuery, _ sql: String) throws -> BatteryAnswer {
      var answer = BatteryAnswer()
      let isOrdered = query.isOrdered
      try forEachRow(sql) { statement in
        switch query.answer {
        case .rows:
          answer.add(
            id: UInt64(sqlite3_column_int64(statement, 0)),
            BatteryAnswer.key(Int(sqlite3_column_int64(statement, 1))), isOrdered: isOrdered)
        case .ids:
          answer.add(id: UInt64(sqlite3_column_int64(statement, 0)), isOrdered: isOrdered)
        case .count: answer.count = Int(sqlite3_column_int64(statement, 0))
        case .groups(_, let sum):
          answer.add(
            key: Self.key(statement, 0), count: Int(sqlite3_column_int64(statement, 1)),
            sum: sum == nil ? 0 : Int(sqlite3_column_int64(statement, 2)))
        case .distinct, .minimum, .maximum, .average: answer.add(key: Self.key(statement, 0))
        case .sum: answer.add(key: BatteryAnswer.key(Int(sqlite3_column_int64(statement, 0))))
        }
      }
      return answer
    }
  }

  extension BatterySQLite: BatteryFacts {
    func count(
      _ conditions: [BatteryCondition], of subject: BatteryQuery.Subject
    ) throws -> Int {
      try number(BatteryQuery(.count, .all(conditions), of: subject).sql(readName: ""))
    }

    func result(
      at place: Int, of query: BatteryQuery
    ) throws -> [String: BatteryLiteral]? {
      var wanted = query
      wanted.answer = .rows
      wanted.limit = 1
      wanted.offset = place
      let names = (["id AS _id"] + query.order.map(\.name)).joined(separator: ", ")
      let rows = wanted.sql(readName: names)
      return try row(rows.replacing("SELECT id, ", with: "SELECT ", maxReplacements: 1))
    }
  }
#endif
