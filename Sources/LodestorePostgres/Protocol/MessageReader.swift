internal import LodestoreBytes

/// Reads big-endian numbers and texts one after the other, and throws where bytes are missing.
struct MessageReader {
  private let bytes: ByteView
  private(set) var offset = 0
  /// The kind of message, for errors.
  private let label: StaticString

  init(_ bytes: ByteView, _ label: StaticString) {
    self.bytes = bytes
    self.label = label
  }

  var remaining: Int { bytes.count - offset }
  var isAtEnd: Bool { offset == bytes.count }

  private mutating func take(_ count: Int) throws(PostgresError) -> Int {
    guard count >= 0, count <= remaining else { throw failure("ends after \(bytes.count) bytes") }
    defer { offset += count }
    return offset
  }

  mutating func byte() throws(PostgresError) -> UInt8 { bytes[try take(1)] }

  mutating func int16() throws(PostgresError) -> Int16 {
    let at = try take(2)
    return Int16(bigEndian: bytes.loadUnaligned(fromByteOffset: at, as: Int16.self))
  }

  mutating func int32() throws(PostgresError) -> Int32 {
    let at = try take(4)
    return Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: at, as: Int32.self))
  }

  mutating func uint32() throws(PostgresError) -> UInt32 { UInt32(bitPattern: try int32()) }

  mutating func int64() throws(PostgresError) -> Int64 {
    let at = try take(8)
    return Int64(bigEndian: bytes.loadUnaligned(fromByteOffset: at, as: Int64.self))
  }

  mutating func position() throws(PostgresError) -> LogPosition {
    LogPosition(UInt64(bitPattern: try int64()))
  }

  mutating func view(_ count: Int) throws(PostgresError) -> ByteView {
    let at = try take(count)
    return bytes[at..<at + count]
  }

  mutating func rest() -> ByteView {
    defer { offset = bytes.count }
    return bytes[offset..<bytes.count]
  }

  /// A text that ends with a zero byte.
  mutating func text() throws(PostgresError) -> String {
    var end = offset
    while end < bytes.count, bytes[end] != 0 { end += 1 }
    guard end < bytes.count else { throw failure("has a text without an end") }
    defer { offset = end + 1 }
    return try Self.text(bytes[offset..<end], label)
  }

  /// The bytes as a text; throws when they are not UTF-8.
  static func text(_ bytes: ByteView, _ label: StaticString) throws(PostgresError) -> String {
    guard let text = String(validating: bytes.unsafeBytes, as: UTF8.self) else {
      throw PostgresError(
        .malformed,
        "\(label) has a text that is not UTF-8; the connection asks for client_encoding "
          + "UTF8, and a database with the encoding SQL_ASCII does not convert")
    }
    return text
  }

  func end() throws(PostgresError) {
    if !isAtEnd { throw failure("has \(remaining) bytes too many") }
  }

  func failure(_ reason: String) -> PostgresError {
    PostgresError(
      .malformed,
      "\(label) of PostgreSQL \(reason); the server speaks another version of the "
        + "protocol, or the connection is damaged")
  }
}
