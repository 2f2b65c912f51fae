#if Search
  import BenchmarkFigures
  import CSQLiteForBenchmarks

  /// A database of SQLite with the settings of the benchmarks.
  final class SQLiteSession {
    private var database: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]

    init(_ path: String, _ schema: String) throws {
      guard sqlite3_open(path, &database) == SQLITE_OK else { throw failure }
      try run("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -400000")
      try run("PRAGMA mmap_size = 4000000000")
      try run(schema)
    }

    deinit {
      for statement in statements.values { sqlite3_finalize(statement) }
      sqlite3_close(database)
    }

    private var failure: BenchmarkError {
      BenchmarkError("SQLite: \(String(cString: sqlite3_errmsg(database)))")
    }

    func run(_ sql: String) throws {
      guard sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK else { throw failure }
    }

    /// Runs a statement, and returns the numbers of its first column.
    @discardableResult
    func numbers(
      _ sql: String, _ texts: [String] = [], _ numbers: [Int] = [], _ doubles: [Double] = []
    ) throws -> [Int] {
      var statement = statements[sql]
      if statement == nil {
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else {
          throw failure
        }
        statements[sql] = statement
      }
      let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      for (index, text) in texts.enumerated() {
        sqlite3_bind_text(statement, Int32(index + 1), text, -1, transient)
      }
      for (index, number) in numbers.enumerated() {
        sqlite3_bind_int64(statement, Int32(texts.count + index + 1), Int64(number))
      }
      for (index, double) in doubles.enumerated() {
        sqlite3_bind_double(statement, Int32(texts.count + numbers.count + index + 1), double)
      }
      defer { sqlite3_reset(statement) }
      var result: [Int] = []
      while true {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: result.append(Int(sqlite3_column_int64(statement, 0)))
        case SQLITE_DONE: return result
        default: throw failure
        }
      }
    }

    /// The number of bytes in use.
    func byteCount() throws -> Int {
      try numbers(
        "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, "
          + "pragma_freelist_count, pragma_page_size"
      )[0]
    }
  }

  /// The texts in SQLite: a table, an index on the group, and an FTS5 table over the texts.
  struct SQLiteSearch {
    private let session: SQLiteSession

    init(_ path: String) throws {
      session = try SQLiteSession(
        path,
        "CREATE TABLE texts(id INTEGER PRIMARY KEY, text TEXT, kind INTEGER);"
          + "CREATE INDEX texts_kind ON texts(kind)")
    }

    func insert(_ texts: [(text: String, group: Int)]) throws {
      try session.run("BEGIN")
      for (text, group) in texts {
        try session.numbers("INSERT INTO texts(text, kind) VALUES (?1, ?2)", [text], [group])
      }
      try session.run("COMMIT")
    }

    /// Replaces the FTS5 table by one with further options of FTS5.
    func index(_ options: String) throws {
      try session.run("DROP TABLE IF EXISTS words")
      try session.run(
        "CREATE VIRTUAL TABLE words USING fts5(text, content='texts', content_rowid='id'"
          + "\(options))")
      try session.run("INSERT INTO words(words) VALUES('rebuild')")
    }

    /// Finds the texts of the groups below `group` that match, the best first with a limit.
    func matches(_ text: String, below group: Int? = nil, limit: Int? = nil) throws -> [Int] {
      try session.numbers(
        "SELECT t.id FROM words JOIN texts t ON t.id = words.rowid WHERE words MATCH ?1"
          + (group == nil ? "" : " AND t.kind < ?2")
          + (limit.map { " ORDER BY rank LIMIT \($0)" } ?? ""),
        [text], group.map { [$0] } ?? [])
    }

    /// Finds the texts whose last word begins as the last one of `text`, the best first.
    func typed(_ text: String) throws -> [Int] {
      try session.numbers(
        "SELECT rowid FROM words WHERE words MATCH ?1 ORDER BY rank LIMIT 10",
        [text.split(separator: " ").map { "\"\($0)\"" }.joined(separator: " ") + "*"])
    }

    func byteCount() throws -> Int { try session.byteCount() }
  }
#endif
