/// A table of a SQLite database that kvdump has not made.
struct SQLiteTable {
  struct Column {
    let name: String
    /// The declared type in capitals; empty for none.
    let declared: String
    let isNotNull: Bool
    let isKey: Bool
  }

  struct ForeignKey {
    let column: String
    let parent: String
    /// The column of the parent; `nil` for its primary key.
    let parentColumn: String?
    let onDelete: String
    /// Whether the key has several columns, of which ``column`` is the first.
    let isCompound: Bool
  }

  struct Index {
    let name: String
    let columns: [String]
    let isUnique: Bool
    /// Whether texts are compared other than by their bytes.
    let hasCollation: Bool
    /// Whether the index has an expression or a condition.
    let isOther: Bool
  }

  let name: String
  let columns: [Column]
  let foreignKeys: [ForeignKey]
  let indexes: [Index]
  /// A name of the row's number that no column has; `nil` for a table WITHOUT ROWID.
  let rowID: String?
  /// The INTEGER PRIMARY KEY, whose values are the numbers of the rows.
  let idColumn: String?
  /// Whether the numbers of the rows can be ids of records.
  let hasUsableRowIDs: Bool

  var quoted: String { SQLiteDatabase.quoted(name) }

  init(_ name: String, in database: SQLiteDatabase) throws {
    self.name = name
    let quoted = SQLiteDatabase.quoted(name)
    var columns: [Column] = []
    for row in try database.rows("PRAGMA table_xinfo(\(quoted))") {
      guard case .text(let name) = row[1], row[6] != .integer(1) else { continue }
      let declared = if case .text(let type) = row[2] { type.uppercased() } else { "" }
      columns.append(
        Column(
          name: name, declared: declared, isNotNull: row[3] != .integer(0),
          isKey: row[5] != .integer(0)))
    }
    self.columns = columns
    foreignKeys = try Self.foreignKeys(of: quoted, in: database)
    indexes = try Self.indexes(of: quoted, in: database)
    let taken = Set(columns.map { $0.name.lowercased() })
    let free = ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
    // The statement is refused for a table WITHOUT ROWID.
    rowID = free.flatMap { name in
      (try? database.prepare("SELECT \(name) FROM \(quoted)")).map { _ in name }
    }
    guard let rowID else {
      idColumn = nil
      hasUsableRowIDs = false
      return
    }
    let least = try database.rows("SELECT min(\(rowID)) FROM \(quoted)")[0][0]
    hasUsableRowIDs = if case .integer(let id) = least { id >= 1 } else { true }
    let keys = columns.filter(\.isKey)
    guard keys.count == 1, keys[0].declared == "INTEGER" else {
      idColumn = nil
      return
    }
    let key = SQLiteDatabase.quoted(keys[0].name)
    let differs = try database.rows("SELECT 1 FROM \(quoted) WHERE \(key) IS NOT \(rowID) LIMIT 1")
    idColumn = differs.isEmpty ? keys[0].name : nil
  }

  /// Returns whether at most one row has a value of the column.
  func isKey(_ column: String) -> Bool {
    let keys = columns.filter(\.isKey).map(\.name)
    return keys == [column]
      || indexes.contains { $0.isUnique && !$0.isOther && $0.columns == [column] }
  }

  /// The column by a name that may differ in the case of letters.
  func column(named name: String) -> Column? {
    columns.first { $0.name.lowercased() == name.lowercased() }
  }

  private static func foreignKeys(
    of table: String, in database: SQLiteDatabase
  ) throws -> [ForeignKey] {
    let rows = try database.rows("PRAGMA foreign_key_list(\(table))")
    return rows.compactMap { row in
      guard row[1] == .integer(0), case .text(let parent) = row[2], case .text(let column) = row[3]
      else { return nil }
      let parentColumn: String? = if case .text(let name) = row[4] { name } else { nil }
      let onDelete = if case .text(let rule) = row[6] { rule } else { "" }
      return ForeignKey(
        column: column, parent: parent, parentColumn: parentColumn, onDelete: onDelete,
        isCompound: rows.contains { $0[0] == row[0] && $0[1] != row[1] })
    }
  }

  private static func indexes(of table: String, in database: SQLiteDatabase) throws -> [Index] {
    try database.rows("PRAGMA index_list(\(table))").compactMap { row in
      guard case .text(let name) = row[1] else { return nil }
      let parts = try database.rows("PRAGMA index_xinfo(\(SQLiteDatabase.quoted(name)))")
        .filter { $0[5] == .integer(1) }
      let columns = parts.compactMap { part -> String? in
        if case .text(let name) = part[2] { name } else { nil }
      }
      return Index(
        name: name, columns: columns, isUnique: row[2] == .integer(1),
        hasCollation: parts.contains { $0[4] != .text("BINARY") },
        isOther: row.count > 4 && row[4] == .integer(1) || columns.count < parts.count)
    }
  }
}
