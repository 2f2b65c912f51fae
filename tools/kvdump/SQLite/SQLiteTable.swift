/// A table of a SQLite database that kvdump has not made.
struct SQLiteTable {
  struct Column {
    let name: String
    /// The declared type in capitals; empty for none.
    let declared: String
    let isNotNull: Bool
    /// The position in the primary key from 1; 0 for a column outside it.
    let keyPosition: Int64
  }

  struct ForeignKey {
    let columns: [String]
    let parent: String
    /// The columns of the parent; `nil` for its primary key.
    let parentColumns: [String]?
    let onDelete: String
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
      let position: Int64 = if case .integer(let place) = row[5] { place } else { 0 }
      columns.append(
        Column(
          name: name, declared: declared, isNotNull: row[3] != .integer(0),
          keyPosition: position))
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
    let keys = columns.filter { $0.keyPosition > 0 }
    guard keys.count == 1, keys[0].declared == "INTEGER" else {
      idColumn = nil
      return
    }
    let key = SQLiteDatabase.quoted(keys[0].name)
    let differs = try database.rows("SELECT 1 FROM \(quoted) WHERE \(key) IS NOT \(rowID) LIMIT 1")
    idColumn = differs.isEmpty ? keys[0].name : nil
  }

  /// The columns of the primary key, in the key's order.
  var primaryKey: [String] {
    columns.filter { $0.keyPosition > 0 }.sorted { $0.keyPosition < $1.keyPosition }.map(\.name)
  }

  /// Returns whether at most one row has the same values of the columns.
  func isKey(_ columns: [String]) -> Bool {
    let wanted = columns.sorted()
    return primaryKey.sorted() == wanted
      || indexes.contains { $0.isUnique && !$0.isOther && $0.columns.sorted() == wanted }
  }

  /// The column by a name that may differ in the case of letters.
  func column(named name: String) -> Column? {
    columns.first { $0.name.lowercased() == name.lowercased() }
  }

  private static func foreignKeys(
    of table: String, in database: SQLiteDatabase
  ) throws -> [ForeignKey] {
    let rows = try database.rows("PRAGMA foreign_key_list(\(table))")
    // The rows of a key follow each other in the order of its columns.
    return rows.filter { $0[1] == .integer(0) }.compactMap { first in
      guard case .text(let parent) = first[2] else { return nil }
      let parts = rows.filter { $0[0] == first[0] }
      func names(_ field: Int) -> [String] {
        parts.compactMap { if case .text(let name) = $0[field] { name } else { nil } }
      }
      let onDelete = if case .text(let rule) = first[6] { rule } else { "" }
      let parentColumns = names(4)
      return ForeignKey(
        columns: names(3), parent: parent,
        parentColumns: parentColumns.isEmpty ? nil : parentColumns, onDelete: onDelete)
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
