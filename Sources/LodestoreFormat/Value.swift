import LodestoreBytes

/// One attribute value without its Swift type, for keys, defaults and dynamic reads.
package enum Value: Sendable, Hashable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// An integer above `Int64.max`. Smaller integers are `.integer`.
  case unsigned(UInt64)
  /// A double, or a float converted to a double.
  case double(Double)
  /// A date in seconds since 2001-01-01T00:00:00Z.
  case date(Double)
  case uuid(UUIDBytes)
  case decimal(DecimalValue)
  /// A text, or the text of a URL.
  case string(String)
  case data([UInt8])
  /// An encoded document, for `json` and `document` attributes.
  case document([UInt8])

  /// The canonical case for an unsigned integer.
  package static func integer(unsigned value: UInt64) -> Value {
    Int64(exactly: value).map(Value.integer) ?? .unsigned(value)
  }

  /// Whether an attribute of `type` can hold a value of this case, including its range.
  package func fits(_ type: AttributeType) -> Bool {
    switch (self, type) {
    case (.bool, .bool), (.double, .double), (.date, .date), (.uuid, .uuid),
      (.decimal, .decimal), (.string, .string), (.string, .url), (.data, .data),
      (.document, .json), (.document, .document):
      true
    case (.double(let value), .float): value.isNaN || Double(Float(value)) == value
    case (.integer(let value), .int8): Int8(exactly: value) != nil
    case (.integer(let value), .int16): Int16(exactly: value) != nil
    case (.integer(let value), .int32): Int32(exactly: value) != nil
    case (.integer, .int64): true
    case (.integer(let value), .uint8): UInt8(exactly: value) != nil
    case (.integer(let value), .uint16): UInt16(exactly: value) != nil
    case (.integer(let value), .uint32): UInt32(exactly: value) != nil
    case (.integer(let value), .uint64): value >= 0
    case (.unsigned, .uint64): true
    case (.integer(let value), .recordID): value >= 1
    default: false
    }
  }
}

/// The 16 bytes of a UUID, in the order of RFC 9562, as two big-endian words.
package struct UUIDBytes: Sendable, Hashable {
  package var high: UInt64
  package var low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Reads 16 bytes at `offset`.
  ///
  /// The caller must have checked that they exist.
  package init(bytes: ByteView, at offset: Int) {
    high = bytes.bigEndianUInt64(at: offset)
    low = bytes.bigEndianUInt64(at: offset + 8)
  }

  package var bytes: [UInt8] { bigEndianBytes(high) + bigEndianBytes(low) }

  /// The usual text form, in capitals.
  package var text: String {
    let digits = bytes.map { byte in
      let hex = String(byte, radix: 16, uppercase: true)
      return hex.count == 1 ? "0" + hex : hex
    }
    let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
    return groups.map { digits[$0].joined() }.joined(separator: "-")
  }

  package init?(text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [8, 4, 4, 4, 12] else { return nil }
    let hex = parts.joined()
    guard hex.utf8.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let high = UInt64(hex.prefix(16), radix: 16), let low = UInt64(hex.suffix(16), radix: 16)
    else { return nil }
    self.init(high: high, low: low)
  }
}
