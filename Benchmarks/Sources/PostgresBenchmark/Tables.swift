#if Postgres
  import BenchmarkFigures
  import Foundation

  extension PostgresBenchmark {
    /// Creates the table with its rows.
    func makeTable() throws {
      print("filling the table with \(arguments.records.grouped) rows")
      try psql(
        """
        SET client_min_messages = warning;
        DROP TABLE IF EXISTS bench;
        CREATE TABLE bench (
          id int8 PRIMARY KEY, name text NOT NULL, hits int8 NOT NULL, amount numeric(12,2),
          at timestamptz NOT NULL, active bool NOT NULL, details jsonb);
        INSERT INTO bench SELECT * FROM \(TableChanges.rows(1, arguments.records));
        VACUUM ANALYZE bench;
        CHECKPOINT;
        """)
    }

    /// Runs commands of SQL; returns the output of the last one.
    @discardableResult
    func psql(_ commands: String) throws -> String {
      let process = Process()
      let (input, output) = (Pipe(), Pipe())
      process.executableURL = URL(fileURLWithPath: arguments.psql)
      process.arguments = [
        "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set=ON_ERROR_STOP=1",
        "--dbname=\(arguments.connection)",
      ]
      (process.standardInput, process.standardOutput) = (input, output)
      try process.run()
      input.fileHandleForWriting.write(Data(commands.utf8))
      try input.fileHandleForWriting.close()
      let text = String(
        decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      guard process.terminationStatus == 0 else { throw BenchmarkError("psql has failed") }
      return text.split(separator: "\n").last.map(String.init) ?? ""
    }
  }

  /// Changes of the table that a store applies.
  struct TableChanges {
    let name: String
    let count: Int
    /// The commands that make the changes.
    let command: String

    /// All kinds of changes, in the order in which they are made.
    ///
    /// - Parameter count: The number of rows before the first changes.
    static func all(_ count: Int) -> [TableChanges] {
      let (third, part) = (count * 3 / 10, count / 10)
      let (next, small) = (count + third, max(1, part / 2))
      return [
        TableChanges(
          name: "inserts in one transaction", count: third,
          command: "INSERT INTO bench SELECT * FROM \(rows(count + 1, count + third))"),
        TableChanges(
          name: "updates in one transaction", count: third,
          command: "UPDATE bench SET hits = hits + 1 WHERE id % 3 = 0 AND id <= \(third * 3)"),
        TableChanges(
          name: "deletions in one transaction", count: part,
          command: "DELETE FROM bench WHERE id % 10 = 1 AND id <= \(count)"),
        TableChanges(
          name: "inserts in transactions of one", count: small,
          command: single(
            "INSERT INTO bench SELECT * FROM \(rows("\(next) + i", "\(next) + i"))", small)),
        TableChanges(
          name: "updates in transactions of one", count: small,
          command: single("UPDATE bench SET hits = hits + 1 WHERE id = i * 10", small)),
      ]
    }

    /// Rows with the numbers from `first` to `last`.
    static func rows(_ first: some CustomStringConvertible, _ last: some CustomStringConvertible)
      -> String
    {
      """
      (SELECT n::int8, 'the name of customer ' || n, (n::int8 * 7919) % 100003, n * 1.25,
        timestamptz '2020-01-01 00:00:00Z' + n * interval '61 seconds', n % 3 = 0,
        jsonb_build_object('city', 'city ' || n % 1000, 'level', n % 7, 'tags',
          jsonb_build_array('a', n % 100))
        FROM generate_series(\(first), \(last)) AS n) AS made
      """
    }

    /// A loop that makes a change with the number `i`, each in a transaction of its own.
    private static func single(_ change: String, _ count: Int) -> String {
      """
      SET synchronous_commit = off;
      DO $$ BEGIN FOR i IN 1..\(count) LOOP \(change); COMMIT; END LOOP; END $$;
      """
    }
  }
#endif
