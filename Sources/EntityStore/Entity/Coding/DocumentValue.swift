internal import LodestoreBytes
internal import LodestoreEssentials
internal import LodestoreFormat

/// A type whose values have their own type code in documents, and are not coded through their
/// `Codable` conformance.
///
/// `nesting` counts the arrays and objects around the value.
protocol DocumentValue {
  func writeDocument(to writer: inout DocumentWriter, nesting: Int) throws(DocumentNestingError)
  static func readDocument(
    from reader: inout DocumentReader, nesting: Int
  ) throws(DocumentFault) -> Self
}

/// The reason why bytes do not hold the requested value, without the path to it.
struct DocumentFault: Error {
  enum Reason {
    /// The value is of another kind.
    case mismatch(DocumentReader.Kind)
    /// The value is of the right kind, and the type cannot represent it.
    case unsuitable
    /// The bytes violate the format.
    case damaged(FormatError)
  }

  var reason: Reason
  var type: Any.Type
  var expected: String
  /// The offset of the value in the reader's bytes.
  var offset: Int

  init(_ reason: Reason, _ type: Any.Type, expected: String, at offset: Int) {
    self.reason = reason
    self.type = type
    self.expected = expected
    self.offset = offset
  }

  /// Creates the fault for a failed read: a mismatch if the value at `start` is of another kind
  /// than expected, otherwise damage.
  init(
    _ error: FormatError, _ type: Any.Type, _ kind: DocumentReader.Kind, expected: String,
    at start: DocumentReader
  ) {
    let found = try? start.kind()
    let reason: Reason = if let found, found != kind { .mismatch(found) } else { .damaged(error) }
    self.init(reason, type, expected: expected, at: start.offset)
  }

  static func tooDeep(_ type: Any.Type, at offset: Int) -> DocumentFault {
    DocumentFault(
      .damaged(FormatError("a document is nested deeper than \(Document.deepestNesting)")), type,
      expected: "fewer levels", at: offset)
  }
}

// MARK: - Standard library

extension Bool: DocumentValue {
  func writeDocument(to writer: inout DocumentWriter, nesting: Int) { writer.write(self) }

  static func readDocument(
    from reader: inout DocumentReader, nesting: Int
  ) throws(DocumentFault) -> Bool {
    let start = reader
    do { return try reader.bool() } catch {
      throw DocumentFault(error, Bool.self, .bool, expected: "a Boolean", at: start)
    }
  }
}

extension String: DocumentValue {
  func writeDocument(to writer: inout DocumentWriter, nesting: Int) { writer.write(self) }

  static func readDocument(
    from reader: inout DocumentReader, nesting: Int
  ) throws(DocumentFault) -> String {
    let start = reader
    do { return try reader.string() } catch {
      throw DocumentFault(error, String.self, .text, expected: "a string", at: start)
    }
  }
}

extension DocumentValue where Self: FixedWidthInteger {
  func writeDocument(to writer: inout DocumentWriter, nesting: Int) {
    if Self.isSigned { writer.write(Int64(self)) } else { writer.write(UInt64(self)) }
  }

  static func readDocument(
    from reader: inout DocumentReader, nesting: Int
  ) throws(DocumentFault) -> Self {
    let start = reader
    let expected = { "an integer from \(Self.min) to \(Self.max)" }
    let value: Self?
    do {
      value =
        try reader.kind() == .unsigned
        ? Self(exactly: try reader.uint64()) : Self(exactly: try reader.int64())
    } catch {
      throw DocumentFault(error, Self.self, .integer, expected: expected(), at: start)
    }
    guard let value else {
      throw DocumentFault(.unsuitable, Self.self, expected: expected(), at: start.offset)
    }
    return value
  }
}

extension Int: DocumentValue {}
extension Int8: DocumentValue {}
extension Int16: DocumentValue {}
extension Int32: DocumentValue {}
extension Int64: DocumentValue {}
extension UInt: DocumentValue {}
extension UInt8: DocumentValue {}
extension UInt16: DocumentValue {}
extension UInt32: DocumentValue {}
extension UInt64: DocumentValue {}

extension Double: DocumentValue {
  func writeDocument(to writer: inout DocumentWriter, nesting: Int) { writer.write(self) }

  /// Reads a double, or an integer that a double represents exactly: an earlier version of the type
  /// may have stored integers.
  static func readDocument(
    from reader: inout DocumentReader, nesting: Int
  ) throws(DocumentFault) -> Double {
    let start = reader
    let value: Double?
    do {
      switch try reader.kind() {
      case .integer: value = Double(exactly: try reader.int64())
      case .unsigned: value = Double(exactly: try reader.uint64())
      default: value = try reader.double()
      }
    } catch {
      throw DocumentFault(error, Double.self, .double, expected: "a number", at: start)
    }
    guard let value else {
      throw DocumentFault(
        .unsuitable, Double.self, expected: "a number that a Double holds", at: start.offset)
    }
    return value
  }
}

extension Float: DocumentValue {
  func writeDocument(to writer: inout DocumentWriter, nesting: Int) { writer.write(Double(self)) }

  static func readDocument(
    from reader: inout DocumentReader, nesting: Int
  ) throws(DocumentFault) -> Float {
    let start = reader.offset
    let wide = try Double.readDocument(from: &reader, nesting: nesting)
    let value = Float(wide)
    guard value.isFinite || !wide.isFinite else {
      throw DocumentFault(
        .unsuitable, Float.self, expected: "a number in the range of a Float", at: start)
    }
    return value
  }
}

// MARK: - Foundation

extension Date: DocumentValue {
  func writeDocument(to writer: inout DocumentWriter, nesting: Int) {
    writer.write(date: timeIntervalSinceReferenceDate)
  }

  static func readDocument(
    from reader: inout DocumentReader, nesting: Int
  ) throws(DocumentFault) -> Date {
    let start = reader
    do { return Date(timeIntervalSinceReferenceDate: try reader.date()) } catch {
      throw DocumentFault(error, Date.self, .date, expected: "a date", at: start)
    }
  }
}

extension UUID: DocumentValue {
  func writeDocument(to writer: inout DocumentWriter, nesting: Int) {
    writer.write(withUnsafeBytes(of: uuid) { UUIDBytes(bytes: ByteView($0), at: 0) })
  }

  static func readDocument(
    from reader: inout DocumentReader, nesting: Int
  ) throws(DocumentFault) -> UUID {
    let start = reader
    do {
      let stored = try reader.uuid()
      let words = (stored.high.bigEndian, stored.low.bigEndian)
      return UUID(uuid: withUnsafeBytes(of: words) { $0.loadUnaligned(as: uuid_t.self) })
    } catch {
      throw DocumentFault(error, UUID.self, .uuid, expected: "a UUID", at: start)
    }
  }
}

extension Data: DocumentValue {
  func writeDocument(to writer: inout DocumentWriter, nesting: Int) {
    withUnsafeBytes { writer.write(data: ByteView($0)) }
  }

  static func readDocument(
    from reader: inout DocumentReader, nesting: Int
  ) throws(DocumentFault) -> Data {
    let start = reader
    do { return Data(try reader.data()) } catch {
      throw DocumentFault(error, Data.self, .data, expected: "data", at: start)
    }
  }
}

extension URL: DocumentValue {
  func writeDocument(to writer: inout DocumentWriter, nesting: Int) { writer.write(absoluteString) }

  static func readDocument(
    from reader: inout DocumentReader, nesting: Int
  ) throws(DocumentFault) -> URL {
    let start = reader.offset
    let text = try String.readDocument(from: &reader, nesting: nesting)
    guard let url = URL(string: text) else {
      throw DocumentFault(.unsuitable, URL.self, expected: "the text of a URL", at: start)
    }
    return url
  }
}

extension Decimal: DocumentValue {
  func writeDocument(to writer: inout DocumentWriter, nesting: Int) {
    writer.write(DecimalValue(self))
  }

  static func readDocument(
    from reader: inout DocumentReader, nesting: Int
  ) throws(DocumentFault) -> Decimal {
    let start = reader
    let value: Decimal?
    do { value = Decimal(try reader.decimal()) } catch {
      throw DocumentFault(error, Decimal.self, .decimal, expected: "a decimal", at: start)
    }
    guard let value else {
      throw DocumentFault(
        .unsuitable, Decimal.self, expected: "a decimal that Decimal holds", at: start.offset)
    }
    return value
  }
}
