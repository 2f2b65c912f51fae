public import LodestoreBytes
public import LodestoreEssentials
internal import LodestoreFormat

extension Date: IndexableValue {
  /// Stored as a binary64 of seconds since 2001, which represents every `Date` exactly.
  public static var _storage: AttributeStorage { AttributeStorage(type: .date) }

  /// The time.
  public var _storedValue: StoredValue { StoredValue(.date(timeIntervalSinceReferenceDate)) }

  /// The time.
  public static func _value(from stored: StoredValue) -> Date? {
    if case .date(let seconds) = stored.value {
      Date(timeIntervalSinceReferenceDate: seconds)
    } else {
      nil
    }
  }

  /// Writes the seconds since 2001.
  @inlinable
  public func _write(to writer: inout RecordWriter) {
    timeIntervalSinceReferenceDate._write(to: &writer)
  }

  /// Reads the seconds since 2001.
  @inlinable
  public static func _read(from reader: inout RecordReader) throws(StoreError) -> Date {
    Date(timeIntervalSinceReferenceDate: try Double._read(from: &reader))
  }
}

extension UUID: IndexableValue {
  /// Stored as sixteen bytes.
  public static var _storage: AttributeStorage { AttributeStorage(type: .uuid) }

  /// The bytes.
  public var _storedValue: StoredValue {
    StoredValue(.uuid(withUnsafeBytes(of: uuid) { UUIDBytes(bytes: ByteView($0), at: 0) }))
  }

  /// The bytes.
  public static func _value(from stored: StoredValue) -> UUID? {
    guard case .uuid(let uuid) = stored.value else { return nil }
    return uuid.bytes._withBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  /// Writes the bytes.
  @inlinable
  public func _write(to writer: inout RecordWriter) { writer.writeSlot(uuid, size: 16) }

  /// Reads the bytes.
  @inlinable
  public static func _read(from reader: inout RecordReader) throws(StoreError) -> UUID {
    UUID(uuid: reader.readSlot(uuid_t.self, size: 16))
  }
}

extension Data: IndexableValue {
  /// Stored as bytes, of any length.
  public static var _storage: AttributeStorage { AttributeStorage(type: .data) }

  /// The bytes.
  public var _storedValue: StoredValue { StoredValue(.data(Array(self))) }

  /// The bytes.
  public static func _value(from stored: StoredValue) -> Data? {
    if case .data(let bytes) = stored.value { Data(bytes) } else { nil }
  }

  /// Writes the bytes.
  @inlinable
  public func _write(to writer: inout RecordWriter) {
    withUnsafeBytes { writer.writeVariable(ByteView($0)) }
  }

  /// Reads the bytes.
  @inlinable
  public static func _read(from reader: inout RecordReader) throws(StoreError) -> Data {
    Data(reader.readVariable())
  }
}

extension URL: IndexableValue {
  /// Stored as the text of the absolute URL.
  public static var _storage: AttributeStorage { AttributeStorage(type: .url) }

  /// The text of the absolute URL.
  public var _storedValue: StoredValue { StoredValue(.string(absoluteString)) }

  /// The URL parsed from the stored text; `nil` when the text is not a URL.
  public static func _value(from stored: StoredValue) -> URL? {
    if case .string(let text) = stored.value { URL(string: text) } else { nil }
  }

  /// Writes the text of the absolute URL.
  public func _write(to writer: inout RecordWriter) { absoluteString._write(to: &writer) }

  /// Reads the text; throws when it is not a URL.
  public static func _read(from reader: inout RecordReader) throws(StoreError) -> URL {
    guard let url = URL(string: try String._read(from: &reader)) else {
      throw reader.undecodable(.url, "its text is not a URL")
    }
    return url
  }
}

extension Decimal: IndexableValue {
  /// Stored exactly as sign, exponent and significand.
  public static var _storage: AttributeStorage { AttributeStorage(type: .decimal) }

  /// The number.
  public var _storedValue: StoredValue { StoredValue(.decimal(DecimalValue(self))) }

  /// The number; `nil` when `Decimal` cannot represent it.
  public static func _value(from stored: StoredValue) -> Decimal? {
    if case .decimal(let number) = stored.value { Decimal(number) } else { nil }
  }

  /// Writes the number.
  public func _write(to writer: inout RecordWriter) {
    writer.writeSlot(.decimal(DecimalValue(self)), as: .decimal)
  }

  /// Reads the number; throws when `Decimal` cannot represent it.
  public static func _read(from reader: inout RecordReader) throws(StoreError) -> Decimal {
    let stored: DecimalValue
    do {
      let bytes = reader.readSlot(count: DecimalValue.byteCount)
      stored = try DecimalValue(bytes: bytes, at: 0)
    } catch {
      throw reader.undecodable(.decimal, error.reason, cause: error)
    }
    guard let decimal = Decimal(stored) else {
      throw reader.undecodable(.decimal, "its number is beyond what Decimal holds")
    }
    return decimal
  }
}

extension RecordReader {
  fileprivate mutating func readSlot(count: Int) -> ByteView {
    precondition(slot + count <= slotsEnd, "more attributes read than the schema declares")
    defer { slot += count }
    return ByteView(start: base + slot, count: count)
  }
}

extension DecimalValue {
  /// Converts `decimal` through its text.
  ///
  /// The text is exact, and `Decimal` does not expose its digits on every system.
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
          // A `Decimal` has at most 38 significant digits, so the further digits of its text are
          // zeros and only raise the exponent.
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
  /// The number in `stored`; `nil` beyond 38 digits or beyond the exponents of `Decimal`.
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
