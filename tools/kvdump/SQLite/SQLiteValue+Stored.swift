import EntityStore
import LodestoreBytes
import LodestoreFormat

extension SQLiteValue {
  /// The value of a table for a stored value.
  ///
  /// NaN becomes NULL. An integer that needs 64 unsigned bits becomes text. ``exactText(of:)`` tells
  /// whether the stored value differs from the table's value.
  init(_ value: Value) throws(FormatError) {
    switch value {
    case .null: self = .null
    case .bool(let flag): self = .integer(flag ? 1 : 0)
    case .integer(let number): self = .integer(number)
    case .unsigned(let number):
      self = Int64(exactly: number).map(Self.integer) ?? .text("\(number)")
    case .double(let number): self = number.isNaN ? .null : .real(number)
    case .decimal(let number): self = .text(number.isNaN ? "NaN" : number.text)
    case .date, .uuid: self = .text(KeyText.text(of: value))
    case .string(let text): self = .text(text)
    case .data(let bytes): self = .blob(bytes)
    case .document(let bytes):
      var text: [UInt8] = []
      try bytes._withBytes { bytes throws(FormatError) in
        try DocumentText.append(bytes, to: &text)
      }
      self = .text(String(decoding: text, as: UTF8.self))
    }
  }

  /// The stored value as JSON from which an import reads an equal value; `nil` if it reads an equal
  /// value from the table.
  static func exactText(of value: Value) throws(FormatError) -> String? {
    // SQLite has no NaN, and stores a negative zero as zero.
    if case .double(let number) = value, number.isNaN || number == 0 && number.sign == .minus {
      return String(CellJSON.array([try Cell(exactly: value)]).dropFirst().dropLast())
    }
    return try ExactJSON.text(of: value)
  }

  /// The SQL type of a column for values of an attribute.
  static func columnType(_ type: AttributeType, isStrict: Bool) -> String {
    switch type {
    case .bool, .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .recordID: "INTEGER"
    // A column without a conversion, because the largest integers are texts.
    case .uint64: isStrict ? "ANY" : "BLOB"
    case .float, .double: "REAL"
    case .date, .uuid, .decimal, .string, .url, .json, .document: "TEXT"
    case .data: "BLOB"
    }
  }
}

extension Value {
  /// Reads a value of a table as a value of `type`; `nil` if it does not fit.
  init?(_ value: SQLiteValue, as type: AttributeType) {
    let read: Value? =
      switch (value, type) {
      case (.null, _): .null
      case (.integer(let number), .bool): number == 0 || number == 1 ? .bool(number == 1) : nil
      case (.integer(let number), .float), (.integer(let number), .double):
        Double(exactly: number).map(Value.double)
      case (.integer(let number), .decimal), (.integer(let number), .json):
        Value(text: "\(number)", as: type)
      case (.integer(let number), _): .integer(number)
      case (.real(let number), .float), (.real(let number), .double): .double(number)
      case (.real(let number), .decimal), (.real(let number), .json):
        number.isFinite ? Value(text: "\(number)", as: type) : nil
      case (.text(let text), .json), (.text(let text), .document):
        (try? JSONDocument.parsing(text.utf8)).flatMap { try? Value($0.root, as: type) }
      // An attribute of data is a blob. Text may be of any coding.
      case (.text, .data), (.text, .bool), (.text, .float), (.text, .double): nil
      case (.text(let text), _): Value(text: text, as: type)
      case (.blob(let bytes), .data): .data(bytes)
      case (.blob, _), (.badText, _), (.real, _): nil
      }
    guard let read, read == .null || read.fits(type) else { return nil }
    self = read
  }
}
