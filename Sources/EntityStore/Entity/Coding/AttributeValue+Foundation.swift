internal import LodestoreFormat

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Date: IndexableValue {
  /// A binary64 of seconds since 2001, so that every `Date` comes back as it was.
  @_documentation(visibility: internal)
  public static var storage: AttributeStorage { AttributeStorage(type: .date) }

  /// The time.
  @_documentation(visibility: internal)
  public var storedValue: StoredValue { StoredValue(.date(timeIntervalSinceReferenceDate)) }

  /// The time.
  @_documentation(visibility: internal)
  public static func value(from stored: StoredValue) -> Date? {
    if case .date(let seconds) = stored.value {
      Date(timeIntervalSinceReferenceDate: seconds)
    } else {
      nil
    }
  }

  /// Writes the seconds since 2001.
  @inlinable
  @_documentation(visibility: internal)
  public func write(to writer: inout RecordWriter) {
    timeIntervalSinceReferenceDate.write(to: &writer)
  }

  /// Reads the seconds since 2001.
  @inlinable
  @_documentation(visibility: internal)
  public static func read(from reader: inout RecordReader) throws(StoreError) -> Date {
    Date(timeIntervalSinceReferenceDate: try Double.read(from: &reader))
  }
}

extension UUID: IndexableValue {
  /// Sixteen bytes.
  @_documentation(visibility: internal)
  public static var storage: AttributeStorage { AttributeStorage(type: .uuid) }

  /// The bytes.
  @_documentation(visibility: internal)
  public var storedValue: StoredValue {
    StoredValue(.uuid(withUnsafeBytes(of: uuid) { UUIDBytes(bytes: $0, at: 0) }))
  }

  /// The bytes.
  @_documentation(visibility: internal)
  public static func value(from stored: StoredValue) -> UUID? {
    guard case .uuid(let uuid) = stored.value else { return nil }
    return uuid.bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  /// Writes the bytes.
  @inlinable
  @_documentation(visibility: internal)
  public func write(to writer: inout RecordWriter) { writer.writeSlot(uuid, size: 16) }

  /// Reads the bytes.
  @inlinable
  @_documentation(visibility: internal)
  public static func read(from reader: inout RecordReader) throws(StoreError) -> UUID {
    UUID(uuid: reader.readSlot(uuid_t.self, size: 16))
  }
}

extension Data: IndexableValue {
  /// Bytes, of any length.
  @_documentation(visibility: internal)
  public static var storage: AttributeStorage { AttributeStorage(type: .data) }

  /// The bytes.
  @_documentation(visibility: internal)
  public var storedValue: StoredValue { StoredValue(.data(Array(self))) }

  /// The bytes.
  @_documentation(visibility: internal)
  public static func value(from stored: StoredValue) -> Data? {
    if case .data(let bytes) = stored.value { Data(bytes) } else { nil }
  }

  /// Writes the bytes.
  @inlinable
  @_documentation(visibility: internal)
  public func write(to writer: inout RecordWriter) {
    withUnsafeBytes { writer.writeVariable($0) }
  }

  /// Reads the bytes.
  @inlinable
  @_documentation(visibility: internal)
  public static func read(from reader: inout RecordReader) throws(StoreError) -> Data {
    Data(reader.readVariable())
  }
}

extension URL: IndexableValue {
  /// The absolute text.
  @_documentation(visibility: internal)
  public static var storage: AttributeStorage { AttributeStorage(type: .url) }

  /// The absolute text.
  @_documentation(visibility: internal)
  public var storedValue: StoredValue { StoredValue(.string(absoluteString)) }

  /// The URL that the text is.
  @_documentation(visibility: internal)
  public static func value(from stored: StoredValue) -> URL? {
    if case .string(let text) = stored.value { URL(string: text) } else { nil }
  }

  /// Writes the absolute text.
  @_documentation(visibility: internal)
  public func write(to writer: inout RecordWriter) { absoluteString.write(to: &writer) }

  /// Reads the text; throws when it is not a URL.
  @_documentation(visibility: internal)
  public static func read(from reader: inout RecordReader) throws(StoreError) -> URL {
    guard let url = URL(string: try String.read(from: &reader)) else {
      throw reader.undecodable("the text is not a URL")
    }
    return url
  }
}

extension Decimal: IndexableValue {
  /// Sign, exponent and significand, exactly.
  @_documentation(visibility: internal)
  public static var storage: AttributeStorage { AttributeStorage(type: .decimal) }

  /// The number.
  @_documentation(visibility: internal)
  public var storedValue: StoredValue { StoredValue(.decimal(DecimalValue(self))) }

  /// The number, where `Decimal` holds it.
  @_documentation(visibility: internal)
  public static func value(from stored: StoredValue) -> Decimal? {
    if case .decimal(let number) = stored.value { Decimal(number) } else { nil }
  }

  /// Writes the number.
  @_documentation(visibility: internal)
  public func write(to writer: inout RecordWriter) {
    writer.writeSlot(.decimal(DecimalValue(self)), as: .decimal)
  }

  /// Reads the number; throws when it is beyond what `Decimal` holds.
  @_documentation(visibility: internal)
  public static func read(from reader: inout RecordReader) throws(StoreError) -> Decimal {
    let stored: DecimalValue
    do {
      let bytes = reader.readSlot(count: DecimalValue.byteCount)
      stored = try DecimalValue(bytes: bytes, at: 0)
    } catch {
      throw reader.undecodable(error.reason, cause: error)
    }
    guard let decimal = Decimal(stored) else {
      throw reader.undecodable("the decimal is beyond what Decimal holds")
    }
    return decimal
  }
}

extension RecordReader {
  fileprivate mutating func readSlot(count: Int) -> UnsafeRawBufferPointer {
    precondition(slot + count <= slotsEnd, "more attributes read than the schema declares")
    defer { slot += count }
    return UnsafeRawBufferPointer(start: base + slot, count: count)
  }
}

extension DecimalValue {
  /// The stored form of `decimal`, through its text, which is exact: `Decimal` does not show its
  /// digits on every system.
  init(_ decimal: Decimal) {
    guard !decimal.isNaN else {
      self = .nan
      return
    }
    var significand: UInt128 = 0
    var exponent = 0
    var isFraction = false
    for byte in decimal.description.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        let (shifted, overflows) = significand.multipliedReportingOverflow(by: 10)
        if overflows {
          // Only zeros can follow the 38 digits that a Decimal holds.
          if !isFraction { exponent += 1 }
        } else {
          significand = shifted + UInt128(byte - UInt8(ascii: "0"))
          if isFraction { exponent -= 1 }
        }
      case UInt8(ascii: "."): isFraction = true
      default: continue
      }
    }
    self.init(
      isNegative: decimal.sign == .minus, exponent: Int16(exponent), significand: significand)
  }
}

extension Decimal {
  /// The number in `stored`; `nil` beyond 38 digits or the exponents that `Decimal` has.
  init?(_ stored: DecimalValue) {
    if stored.isNaN {
      self = .nan
      return
    }
    let digits = stored.digits.isEmpty ? "0" : stored.digits.map(String.init).joined()
    let text = "\(stored.isNegative ? "-" : "")\(digits)e\(stored.exponent)"
    guard let decimal = Decimal(string: text), DecimalValue(decimal) == stored else { return nil }
    self = decimal
  }
}
