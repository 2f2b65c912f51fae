import LodestoreSystem

/// The functions of libsqlite3.
///
/// The library is loaded when a command needs it, so that kvdump builds and starts on machines
/// without it. Nearly every machine has it.
struct SQLiteLibrary: Sendable {
  typealias Code = Int32

  let open:
    @convention(c) @Sendable (
      UnsafePointer<CChar>, UnsafeMutablePointer<OpaquePointer?>, Int32, UnsafePointer<CChar>?
    ) -> Code
  let close: @convention(c) @Sendable (OpaquePointer?) -> Code
  let message: @convention(c) @Sendable (OpaquePointer?) -> UnsafePointer<CChar>?
  let errorCode: @convention(c) @Sendable (OpaquePointer?) -> Code
  let setBusyTimeout: @convention(c) @Sendable (OpaquePointer?, Int32) -> Code
  let versionNumber: @convention(c) @Sendable () -> Int32

  let prepare:
    @convention(c) @Sendable (
      OpaquePointer?, UnsafePointer<CChar>, Int32, UnsafeMutablePointer<OpaquePointer?>,
      OpaquePointer?
    ) -> Code
  let step: @convention(c) @Sendable (OpaquePointer?) -> Code
  let reset: @convention(c) @Sendable (OpaquePointer?) -> Code
  let finalize: @convention(c) @Sendable (OpaquePointer?) -> Code

  let bindNull: @convention(c) @Sendable (OpaquePointer?, Int32) -> Code
  let bindInteger: @convention(c) @Sendable (OpaquePointer?, Int32, Int64) -> Code
  let bindReal: @convention(c) @Sendable (OpaquePointer?, Int32, Double) -> Code
  let bindText: Binder
  let bindBlob: Binder
  let bindZeroBlob: @convention(c) @Sendable (OpaquePointer?, Int32, Int32) -> Code

  let columnCount: @convention(c) @Sendable (OpaquePointer?) -> Int32
  let columnName: @convention(c) @Sendable (OpaquePointer?, Int32) -> UnsafePointer<CChar>?
  let columnType: @convention(c) @Sendable (OpaquePointer?, Int32) -> Int32
  let columnInteger: @convention(c) @Sendable (OpaquePointer?, Int32) -> Int64
  let columnReal: @convention(c) @Sendable (OpaquePointer?, Int32) -> Double
  let columnText: Reader
  let columnBlob: Reader
  let columnByteCount: @convention(c) @Sendable (OpaquePointer?, Int32) -> Int32

  /// Binds bytes, their number, and the function that frees them.
  typealias Binder =
    @convention(c) @Sendable (
      OpaquePointer?, Int32, UnsafeRawPointer?, Int32, OpaquePointer?
    ) -> Code
  typealias Reader = @convention(c) @Sendable (OpaquePointer?, Int32) -> UnsafeRawPointer?

  /// Makes the library copy bound bytes before the call returns: SQLITE_TRANSIENT.
  static var copies: OpaquePointer? { OpaquePointer(bitPattern: -1) }

  private static let loaded = SQLiteLibrary(
    names: ["libsqlite3.so.0", "libsqlite3.so", "libsqlite3.dylib"])

  /// The library; throws a failure with the names of its package if the machine lacks it.
  static func load() throws(CommandFailure) -> SQLiteLibrary {
    guard let loaded else { throw .noSQLite }
    return loaded
  }

  /// The functions of an open library.
  private struct Symbols {
    let library: UnsafeMutableRawPointer
    var isComplete = true

    mutating func function<F>(_ name: String) -> F {
      // A missing function is replaced by one that exists, and the library is not used.
      let symbol = dlsym(library, "sqlite3_" + name)
      isComplete = isComplete && symbol != nil
      return unsafeBitCast(symbol ?? library, to: F.self)
    }
  }

  /// Loads the first of the libraries that exists; fails if it lacks a function.
  private init?(names: [String]) {
    guard let library = names.lazy.compactMap({ dlopen($0, RTLD_NOW) }).first else { return nil }
    var symbols = Symbols(library: library)
    open = symbols.function("open_v2")
    close = symbols.function("close_v2")
    message = symbols.function("errmsg")
    errorCode = symbols.function("extended_errcode")
    setBusyTimeout = symbols.function("busy_timeout")
    versionNumber = symbols.function("libversion_number")
    prepare = symbols.function("prepare_v2")
    step = symbols.function("step")
    reset = symbols.function("reset")
    finalize = symbols.function("finalize")
    bindNull = symbols.function("bind_null")
    bindInteger = symbols.function("bind_int64")
    bindReal = symbols.function("bind_double")
    bindText = symbols.function("bind_text")
    bindBlob = symbols.function("bind_blob")
    bindZeroBlob = symbols.function("bind_zeroblob")
    columnCount = symbols.function("column_count")
    columnName = symbols.function("column_name")
    columnType = symbols.function("column_type")
    columnInteger = symbols.function("column_int64")
    columnReal = symbols.function("column_double")
    columnText = symbols.function("column_text")
    columnBlob = symbols.function("column_blob")
    columnByteCount = symbols.function("column_bytes")
    guard symbols.isComplete else { return nil }
  }

  /// The bytes of a text or blob of the current row.
  func bytes(_ statement: OpaquePointer?, _ column: Int32, _ read: Reader) -> [UInt8] {
    // The text is read first, because reading may convert it and so change its length.
    let start = read(statement, column)
    let count = Int(columnByteCount(statement, column))
    return Array(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
  }
}
