import LodestoreSystem

/// A value of a SQLite database.
enum SQLiteValue: Equatable, Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  /// A text whose bytes are not UTF-8.
  case badText([UInt8])
  case blob([UInt8])

  /// The name of the value's type, as SQLite's function `typeof` returns it.
  var typeName: String {
    switch self {
    case .null: "null"
    case .integer: "integer"
    case .real: "real"
    case .text, .badText: "text"
    case .blob: "blob"
    }
  }
}

/// An open SQLite database.
final class SQLiteDatabase {
  /// The time for which a call waits for another process's lock, in milliseconds.
  private static let busyTimeout: Int32 = 5_000

  let path: String
  /// The name of the file in failures, which may be temporary.
  let title: String
  let library: SQLiteLibrary
  fileprivate let handle: OpaquePointer?

  /// Opens an existing file.
  init(_ path: String, title: String? = nil, isWritable: Bool = false) throws(CommandFailure) {
    library = try SQLiteLibrary.load()
    self.path = path
    self.title = title ?? path
    var opened: OpaquePointer?
    // SQLITE_OPEN_READONLY or SQLITE_OPEN_READWRITE.
    let code = library.open(path, &opened, isWritable ? 2 : 1, nil)
    handle = opened
    guard code == 0 else { throw failure() }
    _ = library.setBusyTimeout(handle, Self.busyTimeout)
  }

  deinit { _ = library.close(handle) }

  /// Runs a statement to its end.
  func execute(_ sql: String) throws(CommandFailure) {
    let statement = try prepare(sql)
    while try statement.step() {}
  }

  func prepare(_ sql: String) throws(CommandFailure) -> SQLiteStatement {
    try SQLiteStatement(sql, in: self)
  }

  /// All rows of a query whose result is small.
  func rows(_ sql: String) throws(CommandFailure) -> [[SQLiteValue]] {
    let statement = try prepare(sql)
    var rows: [[SQLiteValue]] = []
    while try statement.step() { rows.append(statement.row) }
    return rows
  }

  /// The failure of the last call.
  func failure() -> CommandFailure {
    let code = library.errorCode(handle)
    let message = library.message(handle).map { String(cString: $0) } ?? "unknown error"
    return .sqlite(code, message, path: title)
  }

  /// An identifier in quotes.
  static func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
      + "\""
  }
}

/// A prepared statement of a SQLite database.
final class SQLiteStatement {
  private let database: SQLiteDatabase
  private let handle: OpaquePointer?
  private let library: SQLiteLibrary
  private var isAtEnd = false
  /// The names of the result's columns.
  let columns: [String]

  fileprivate init(_ sql: String, in database: SQLiteDatabase) throws(CommandFailure) {
    self.database = database
    let library = database.library
    self.library = library
    var prepared: OpaquePointer?
    guard library.prepare(database.handle, sql, -1, &prepared, nil) == 0 else {
      throw database.failure()
    }
    handle = prepared
    columns = (0..<library.columnCount(prepared)).map { column in
      library.columnName(prepared, column).map { String(cString: $0) } ?? ""
    }
  }

  deinit { _ = library.finalize(handle) }

  /// Moves to the next row; returns false at the end.
  func step() throws(CommandFailure) -> Bool {
    // SQLite itself would start again.
    guard !isAtEnd else { return false }
    switch library.step(handle) {
    case 100: return true
    case 101:
      isAtEnd = true
      return false
    default: throw database.failure()
    }
  }

  /// Runs the statement once with these parameters.
  func run(_ parameters: [SQLiteValue]) throws(CommandFailure) {
    try bind(parameters)
    while try step() {}
  }

  /// Resets the statement and sets its parameters.
  func bind(_ parameters: [SQLiteValue]) throws(CommandFailure) {
    _ = library.reset(handle)
    isAtEnd = false
    for (position, value) in parameters.enumerated() {
      guard bind(value, at: Int32(position + 1)) == 0 else { throw database.failure() }
    }
  }

  private func bind(_ value: SQLiteValue, at place: Int32) -> SQLiteLibrary.Code {
    switch value {
    case .null: library.bindNull(handle, place)
    case .integer(let number): library.bindInteger(handle, place, number)
    case .real(let number): library.bindReal(handle, place, number)
    case .text(let text): bind(Array(text.utf8), at: place, library.bindText)
    case .badText(let bytes): bind(bytes, at: place, library.bindText)
    // The address of an empty array may be null, which would bind NULL.
    case .blob([]): library.bindZeroBlob(handle, place, 0)
    case .blob(let bytes): bind(bytes, at: place, library.bindBlob)
    }
  }

  private func bind(
    _ bytes: [UInt8], at place: Int32, _ binder: SQLiteLibrary.Binder
  ) -> SQLiteLibrary.Code {
    // 18 is SQLITE_TOOBIG.
    guard let count = Int32(exactly: bytes.count) else { return 18 }
    let bytes = bytes.isEmpty ? [0] : bytes
    return binder(handle, place, bytes, count, SQLiteLibrary.copies)
  }

  /// The values of the current row.
  var row: [SQLiteValue] { columns.indices.map(value) }

  func value(_ column: Int) -> SQLiteValue {
    let column = Int32(column)
    switch library.columnType(handle, column) {
    case 1: return .integer(library.columnInteger(handle, column))
    case 2: return .real(library.columnReal(handle, column))
    case 3:
      let bytes = library.bytes(handle, column, library.columnText)
      return String(validating: bytes, as: UTF8.self).map(SQLiteValue.text) ?? .badText(bytes)
    case 4: return .blob(library.bytes(handle, column, library.columnBlob))
    default: return .null
    }
  }
}
