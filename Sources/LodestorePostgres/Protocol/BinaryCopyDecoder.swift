internal import LodestoreBytes

/// Decodes the rows of a `COPY … (FORMAT binary)` from messages of any division.
struct BinaryCopyDecoder {
  /// The fields of one row, as ranges of its bytes; `nil` for null.
  typealias Row = (_ bytes: ByteView, _ fields: [Range<Int>?]) throws -> Void

  private static let signature: [UInt8] = [
    0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00,
  ]
  /// The largest size of a message of the server.
  private static let rowLimit = 1 << 30

  private let columnCount: Int
  private var fields: [Range<Int>?] = []
  /// The bytes of a row whose rest has not arrived.
  private var pending: [UInt8] = []
  private var hasHeader = false
  private(set) var isAtEnd = false
  private(set) var rowCount = 0

  init(columnCount: Int) {
    self.columnCount = columnCount
    fields.reserveCapacity(columnCount)
  }

  /// Decodes the whole rows of a message, after the bytes that earlier messages left.
  mutating func take(_ message: ByteView, _ body: Row) throws {
    if pending.isEmpty {
      let used = try decode(message, body)
      if used < message.count { pending = Array(message[used..<message.count]) }
    } else {
      pending.append(contentsOf: message)
      let whole = pending
      let used = try whole.withUnsafeBytes { try decode(ByteView($0), body) }
      pending.removeFirst(used)
    }
    guard pending.count <= Self.rowLimit else { throw Self.failure("has a row above 1 GiB") }
  }

  /// Throws when the end of the rows has not arrived.
  func finish() throws(PostgresError) {
    guard isAtEnd, pending.isEmpty else { throw Self.failure("ends without its trailer") }
  }

  /// Returns the number of used bytes.
  private mutating func decode(_ bytes: ByteView, _ body: Row) throws -> Int {
    var offset = 0
    if !hasHeader {
      guard let end = try Self.headerEnd(bytes) else { return 0 }
      hasHeader = true
      offset = end
    }
    while let end = try nextRow(bytes, from: offset) {
      if !isAtEnd {
        rowCount += 1
        try body(bytes, fields)
      }
      offset = end
    }
    return offset
  }

  /// Sets ``fields`` to those of the row at `start`; returns its end, or `nil` if it is not whole.
  private mutating func nextRow(_ bytes: ByteView, from start: Int) throws(PostgresError) -> Int? {
    guard bytes.count - start >= 2 else { return nil }
    if isAtEnd { throw Self.failure("has bytes after its trailer") }
    let count = Int16(bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: Int16.self))
    if count == -1 {
      isAtEnd = true
      return start + 2
    }
    guard Int(count) == columnCount else {
      throw Self.failure("has a row of \(count) columns instead of \(columnCount)")
    }
    var offset = start + 2
    fields.removeAll(keepingCapacity: true)
    for _ in 0..<columnCount {
      guard bytes.count - offset >= 4 else { return nil }
      let length = Int(
        Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self)))
      offset += 4
      if length == -1 {
        fields.append(nil)
        continue
      }
      guard length >= 0 else { throw Self.failure("has a value of \(length) bytes") }
      guard bytes.count - offset >= length else { return nil }
      fields.append(offset..<offset + length)
      offset += length
    }
    return offset
  }

  /// Returns the end of the header, or `nil` if it is not whole.
  private static func headerEnd(_ bytes: ByteView) throws(PostgresError) -> Int? {
    guard bytes.count >= 19 else { return nil }
    guard bytes[0..<11].elementsEqual(signature) else { throw failure("has no signature") }
    let flags = bytes.bigEndianUInt32(at: 11)
    // The upper half has the flags that a reader must know.
    guard flags >> 16 == 0 else { throw failure("has the unknown flags \(flags)") }
    let length = Int(bytes.bigEndianUInt32(at: 15))
    guard length <= rowLimit else { throw failure("has a header of \(length) bytes") }
    return bytes.count >= 19 + length ? 19 + length : nil
  }

  private static func failure(_ reason: String) -> PostgresError {
    PostgresError(.malformed, "a binary COPY of PostgreSQL \(reason); the connection is damaged")
  }
}
