import EntityStore
import LodestoreFormat

/// The values of a column of a SQLite table, for the choice of the attribute's type.
struct SQLiteColumnSurvey {
  private(set) var hasNull = false
  /// The number of texts that are not UTF-8.
  private(set) var badTextCount = 0
  private var integers = 0
  private var reals = 0
  private var texts = 0
  private var blobs = 0
  private var areFlags = true
  /// Whether a double represents each integer exactly.
  private var areExact = true
  /// The type of which all texts may be, by the column's declared type.
  private var textType: AttributeType
  private let declared: String

  /// - Parameter declared: The declared type in capitals.
  init(declared: String) {
    self.declared = declared
    textType =
      if declared.hasPrefix("DATE") || declared.hasPrefix("TIMESTAMP") {
        .date
      } else if declared.hasPrefix("UUID") {
        .uuid
      } else if declared.hasPrefix("JSON") {
        .json
      } else {
        .string
      }
  }

  mutating func add(_ value: SQLiteValue) {
    switch value {
    case .null: hasNull = true
    case .integer(let number):
      integers += 1
      if number != 0, number != 1 { areFlags = false }
      if Double(exactly: number) == nil { areExact = false }
    case .real: reals += 1
    case .text(let text):
      texts += 1
      if textType != .string, Self.value(text, as: textType) == nil { textType = .string }
    case .badText:
      texts += 1
      badTextCount += 1
      textType = .string
    case .blob: blobs += 1
    }
  }

  /// The attribute's type; `nil` for values of several types, which become JSON.
  var type: AttributeType? {
    switch (integers > 0, reals > 0, texts > 0, blobs > 0) {
    case (false, false, false, false): declaredType
    case (true, false, false, false): declared.hasPrefix("BOOL") && areFlags ? .bool : .int64
    case (false, true, false, false): .double
    case (true, true, false, false): areExact ? .double : nil
    case (false, false, true, false): textType
    case (false, false, false, true): .data
    default: nil
    }
  }

  /// The type of a column without values.
  private var declaredType: AttributeType {
    if textType != .string { return textType }
    if declared.hasPrefix("BOOL") { return .bool }
    if declared.contains("INT") { return .int64 }
    if declared.contains("BLOB") { return .data }
    return ["REAL", "FLOA", "DOUB"].contains(where: declared.contains) ? .double : .string
  }

  /// The types of the values in words, for a note.
  var words: String {
    [(integers, "integer"), (reals, "real"), (texts, "text"), (blobs, "blob")]
      .filter { $0.0 > 0 }.map { NumberText.counted($0.0, $0.1) }.joined(separator: ", ")
  }

  // MARK: Values

  private static func value(_ text: String, as type: AttributeType) -> Value? {
    if type == .json { return Value(.text(text), as: .json) }
    // SQLite's own functions write dates in UTC, without a zone and with a space before the time.
    return Value(text: text, as: type)
      ?? (type == .date ? Value(text: text.replacing(" ", with: "T") + "Z", as: type) : nil)
  }

  /// The value of an attribute whose type was chosen by a survey; `type` is `nil` for mixed values.
  static func value(_ value: SQLiteValue, as type: AttributeType?) -> Value? {
    switch (value, type) {
    case (.badText(let bytes), _):
      return self.value(.text(String(decoding: bytes, as: UTF8.self)), as: type)
    case (.null, _): return .null
    case (_, nil):
      let cell: Cell =
        switch value {
        case .integer(let number): .integer(number)
        case .real(let number): .double(number)
        case .text(let text): .text(text)
        case .blob(let bytes): .bytes(bytes)
        case .null, .badText: .null
        }
      return Value(.text(String(CellJSON.array([cell]).dropFirst().dropLast())), as: .json)
    case (.text(let text), let type?): return self.value(text, as: type)
    case (_, let type?): return Value(value, as: type)
    }
  }
}
