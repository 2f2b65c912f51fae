/// Encodes rows for a `COPY … FROM STDIN (FORMAT binary)`.
struct BinaryCopyEncoder {
  private(set) var bytes: [UInt8]

  init() {
    bytes = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00]
    bytes.appendBigEndian(UInt64(0))
  }

  mutating func beginRow(columnCount: Int) {
    bytes.appendBigEndian(Int16(truncatingIfNeeded: columnCount))
  }

  mutating func appendNull() { bytes.appendBigEndian(Int32(-1)) }

  /// Appends a value, whose bytes `body` appends to its argument.
  mutating func append<E: Error>(_ body: (inout [UInt8]) throws(E) -> Void) throws(E) {
    let start = bytes.count
    bytes.appendBigEndian(Int32(0))
    try body(&bytes)
    let count = Int32(truncatingIfNeeded: bytes.count - start - 4)
    withUnsafeBytes(of: count.bigEndian) { bytes.replaceSubrange(start..<start + 4, with: $0) }
  }

  mutating func finish() { bytes.appendBigEndian(Int16(-1)) }

  /// Returns the bytes so far, and continues with none.
  mutating func take() -> [UInt8] {
    defer { bytes.removeAll(keepingCapacity: false) }
    return bytes
  }
}
