import EntityStore

/// The rows of one table as pages of an import.
///
/// All rows are of one point of time.
final class SQLiteRows {
  private static let bytesPerPage = 16 << 20

  private let statement: SQLiteStatement

  /// Opens the database; without a name, its only table is read.
  init(_ path: String, table: String?) throws {
    let database = try SQLiteDatabase(path)
    try database.execute("BEGIN")
    var notes: [String] = []
    let tables = try SQLiteTableReader.tables(of: database, notes: &notes)
    let views = try database.rows("SELECT name FROM sqlite_master WHERE type = 'view'")
    guard let name = table ?? (tables.count == 1 ? tables[0] : nil),
      tables.contains(name) || views.contains([.text(name)])
    else { throw CommandFailure.noTableChosen(path, table, tables: tables) }
    statement = try database.prepare("SELECT * FROM \(SQLiteDatabase.quoted(name))")
  }

  var columns: [String] { statement.columns }

  /// The next rows as a JSON array of arrays; `nil` at the end.
  ///
  /// Texts that are not UTF-8 keep their bytes, so that the import rejects their records.
  func next(count: Int) throws -> [UInt8]? {
    var text: [UInt8] = []
    for _ in 0..<count where text.count < Self.bytesPerPage {
      guard try statement.step() else { break }
      text.append(UInt8(ascii: text.isEmpty ? "[" : ","))
      text.append(UInt8(ascii: "["))
      for (position, value) in statement.row.enumerated() {
        if position > 0 { text.append(UInt8(ascii: ",")) }
        Self.append(value, to: &text)
      }
      text.append(UInt8(ascii: "]"))
    }
    guard !text.isEmpty else { return nil }
    text.append(UInt8(ascii: "]"))
    return text
  }

  private static func append(_ value: SQLiteValue, to text: inout [UInt8]) {
    switch value {
    case .null: CellJSON.append(.null, to: &text)
    case .integer(let number): CellJSON.append(.integer(number), to: &text)
    case .real(let number): CellJSON.append(.double(number), to: &text)
    case .text(let value): CellJSON.append(.text(value), to: &text)
    case .blob(let bytes): CellJSON.append(.bytes(bytes), to: &text)
    case .badText(let bytes):
      text.append(UInt8(ascii: "\""))
      text += bytes.filter { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
      text.append(UInt8(ascii: "\""))
    }
  }
}
