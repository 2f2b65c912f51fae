import EntityStore
import LodestoreSystem

/// The failures of SQLite databases.
extension CommandFailure {
  static let noSQLite = CommandFailure(
    code: "no-sqlite",
    message: "libsqlite3: not found on this machine; install libsqlite3-0 (Debian, Ubuntu), "
      + "sqlite-libs (Fedora, Alpine) or sqlite (Homebrew)", status: .noInput)

  /// The failure for an error code of SQLite about the database at `path`.
  static func sqlite(_ code: Int32, _ message: String, path: String) -> Self {
    let (step, status): (String, ExitStatus) =
      switch code & 0xFF {
      case 5, 6: ("close the program that has it locked, or try again", .tryAgain)
      case 8: ("check the permissions", .notPermitted)
      case 11, 26:
        ("restore it from a copy, or save its rows with 'sqlite3 FILE .recover'", .damagedData)
      case 13: ("make room on the disk and try again", .inputOutput)
      case 14: ("check the path and the permissions of the file and its folder", .noInput)
      case 18, 19, 20: ("correct the data and try again", .damagedData)
      default: ("check the disk and the path", .inputOutput)
      }
    return CommandFailure(
      code: "sqlite", message: "\(path): SQLite: \(message); \(step)", status: status,
      details: [.text("path", path), Detail(name: "sqliteCode", value: .integer(Int64(code)))])
  }

  /// The failure for a database whose pages or trees are damaged.
  static func damagedSQLite(_ path: String, _ finding: String) -> Self {
    .sqlite(11, finding, path: path)
  }

  /// The failure for a value of an exported table that does not fit its attribute any more.
  static func badSQLiteValue(
    _ value: SQLiteValue, of column: String, _ id: Int64, table: String, path: String,
    expectation: String
  ) -> Self {
    CommandFailure(
      code: "bad-value",
      message: "\(path): \(table) \(id): '\(column)' must be \(expectation), found "
        + "\(value == .null ? "NULL" : "a value of type \(value.typeName)"); correct the row, or "
        + "import the table alone with --entity", status: .damagedData,
      details: [
        .text("path", path), .text("table", table), .text("column", column),
        Detail(name: "_id", value: .integer(id)),
      ])
  }

  /// The failure for a database with several tables of which none was chosen.
  static func noTableChosen(_ path: String, _ chosen: String?, tables: [String]) -> Self {
    let reason = chosen.map { "has no table \"\($0)\"" } ?? "has several tables"
    let hint = chosen.flatMap { NearestName.of($0, among: tables) }
    return CommandFailure(
      code: "no-such-table",
      message: "\(path): \(reason); --records TABLE chooses one of "
        + "\(tables.prefix(50).joined(separator: ", "))"
        + (hint.map { "; did you mean \"\($0)\"?" } ?? ""), status: .usage,
      details: [.text("path", path)])
  }
}
