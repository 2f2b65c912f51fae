internal import LodestoreBytes
internal import LodestoreEssentials
internal import LodestoreFormat

extension JSONValue {
  /// Writes the value as a document; equal values give equal bytes.
  ///
  /// There are two exceptions, because documents compare text by its bytes. Equal strings with
  /// different normalization keep their bytes, as values and as keys. The double −0 is written as
  /// 0, to which it is equal.
  ///
  /// - Throws: `DocumentNestingError` beyond 128 levels; `writer` then ends with an incomplete
  ///   value.
  func write(to writer: inout DocumentWriter) throws(DocumentNestingError) {
    try writeDocument(to: &writer, nesting: 0)
  }

  /// Reads all of `document`, which may hold only types that JSON has.
  init(document: ByteView) throws(FormatError) { self = try Self.decode(document, shows: false) }

  /// Reads all of any document, for display.
  ///
  /// Dates become ISO 8601 text, UUIDs text and data base64. Numbers that JSON cannot hold exactly
  /// become text.
  init(anyDocument document: ByteView) throws(FormatError) {
    self = try Self.decode(document, shows: true)
  }

  private static func decode(_ document: ByteView, shows: Bool) throws(FormatError) -> JSONValue {
    var reader = DocumentReader(document)
    let value = try value(from: &reader, nesting: 0, shows: shows)
    guard reader.isAtEnd else {
      throw FormatError(
        "a document ends at \(reader.offset), its bytes at \(document.count)", at: reader.offset)
    }
    return value
  }

  /// Reads the next value; with `shows`, converts types that JSON does not have.
  fileprivate static func value(
    from reader: inout DocumentReader, nesting: Int, shows: Bool
  ) throws(FormatError) -> JSONValue {
    switch try reader.kind() {
    case .text: return .string(try reader.string())
    case .integer: return .integer(try reader.int64())
    case .bool: return .bool(try reader.bool())
    case .null:
      try reader.skip()
      return .null
    case .unsigned: return .unsigned(try reader.uint64())
    case .double:
      let number = try reader.double()
      return shows && !number.isFinite ? .string("\(number)") : .double(number)
    case .array: return try array(from: &reader, nesting: nesting, shows: shows)
    case .object: return try object(from: &reader, nesting: nesting, shows: shows)
    case .date, .uuid, .data, .decimal:
      guard shows else {
        throw FormatError(
          "a JSON document has \(try reader.kind().words), which JSON does not have",
          at: reader.offset)
      }
      return try display(&reader)
    }
  }

  private static func array(
    from reader: inout DocumentReader, nesting: Int, shows: Bool
  ) throws(FormatError) -> JSONValue {
    try requireNesting(nesting, reader)
    let (count, end) = try reader.enterArray()
    var elements: [JSONValue] = []
    elements.reserveCapacity(min(count, DocumentMembers.largestReservation))
    for _ in 0..<count {
      elements.append(try value(from: &reader, nesting: nesting + 1, shows: shows))
    }
    try reader.expectEnd(end)
    return .array(elements)
  }

  private static func object(
    from reader: inout DocumentReader, nesting: Int, shows: Bool
  ) throws(FormatError) -> JSONValue {
    try requireNesting(nesting, reader)
    let (count, end) = try reader.enterObject()
    if count == 0 {
      try reader.expectEnd(end)
      return .object([:])
    }
    var members: [String: JSONValue] = [:]
    members.reserveCapacity(min(count, DocumentMembers.largestReservation))
    for _ in 0..<count {
      let name = try reader.memberName()
      let value = try value(from: &reader, nesting: nesting + 1, shows: shows)
      guard members.updateValue(value, forKey: name) == nil else {
        throw DocumentMembers.equivalentNames(at: reader.offset)
      }
    }
    try reader.expectEnd(end)
    return .object(members)
  }

  @inline(__always)
  private static func requireNesting(_ nesting: Int, _ reader: DocumentReader) throws(FormatError) {
    guard nesting < Document.deepestNesting else {
      throw FormatError(
        "a document is nested deeper than \(Document.deepestNesting)", at: reader.offset)
    }
  }
}

extension JSONValue: DocumentValue {
  func writeDocument(to writer: inout DocumentWriter, nesting: Int) throws(DocumentNestingError) {
    switch self {
    case .null: writer.writeNull()
    case .bool(let flag): writer.write(flag)
    case .integer(let number): writer.write(number)
    case .unsigned(let number): writer.write(number)
    case .double(let number): writer.write(canonical: number)
    case .string(let text): writer.write(text)
    case .array(let elements): try elements.writeDocument(to: &writer, nesting: nesting)
    case .object(let members): try members.writeDocument(to: &writer, nesting: nesting)
    }
  }

  static func readDocument(
    from reader: inout DocumentReader, nesting: Int
  ) throws(DocumentFault) -> JSONValue {
    let start = reader.offset
    do { return try value(from: &reader, nesting: nesting, shows: false) } catch {
      throw DocumentFault(.damaged(error), JSONValue.self, expected: "JSON", at: start)
    }
  }
}

extension DocumentWriter {
  /// Writes a double of a JSON value, with −0 as 0.
  mutating func write(canonical number: Double) { write(number == 0 ? 0.0 : number) }
}

// MARK: - Values without a JSON form

extension JSONValue {
  private static func display(_ reader: inout DocumentReader) throws(FormatError) -> JSONValue {
    switch try reader.kind() {
    case .date:
      let date = Date(timeIntervalSinceReferenceDate: try reader.date())
      return .string(ISO8601Text.text(date) ?? "\(date.timeIntervalSinceReferenceDate)")
    case .uuid: return .string(try reader.uuid().text)
    case .data: return .string(Data(try reader.data()).base64EncodedString())
    default: return display(try reader.decimal())
    }
  }

  /// Converts to a number when every JSON reader can represent it exactly, otherwise to text.
  private static func display(_ decimal: DecimalValue) -> JSONValue {
    if decimal.isNaN { return .string("nan") }
    let digits = decimal.digits.map { String($0) }.joined()
    let sign = decimal.isNegative ? "-" : ""
    let exponent = decimal.exponent
    if (0...18).contains(exponent) {
      let zeros = String(repeating: "0", count: Int(exponent))
      let text = sign + (digits.isEmpty ? "0" : digits + zeros)
      if let value = Int64(text) { return .integer(value) }
      if let value = UInt64(text) { return .unsigned(value) }
    }
    let text = "\(sign)\(digits)e\(exponent)"
    // A `Double` preserves 15 decimal digits. Exponents in this range cause neither overflow nor
    // underflow.
    if digits.count <= 15, (-300...280).contains(exponent), let value = Double(text) {
      return .double(value)
    }
    return .string(text)
  }
}
