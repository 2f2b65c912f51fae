/// The type of a column that the sink creates.
enum ColumnType: String, Sendable {
  case boolean
  case smallint
  case integer
  case bigint
  case real
  case double = "double precision"
  case numeric
  case text
  case bytea
  case uuid
  case timestamptz
  case jsonb
}

extension ColumnType {
  /// Appends the binary form of a value of the type.
  ///
  /// The value must not be null, which has no bytes.
  func append(_ value: PostgresValue, to bytes: inout [UInt8]) throws(ValueRefusal) {
    switch (self, value) {
    case (.boolean, .bool(let value)): bytes.append(value ? 1 : 0)
    case (.smallint, .integer(let value)):
      bytes.appendBigEndian(try Self.exactly(value, Int16.self))
    case (.integer, .integer(let value)): bytes.appendBigEndian(try Self.exactly(value, Int32.self))
    case (.bigint, .integer(let value)): bytes.appendBigEndian(value)
    case (.real, .double(let value)): bytes.appendBigEndian(Float(value).bitPattern)
    case (.double, .double(let value)): bytes.appendBigEndian(value.bitPattern)
    case (.numeric, .numeric(let value)): try value.append(to: &bytes)
    case (.text, .text(let value)):
      guard !value.utf8.contains(0) else {
        throw .refused("has the character U+0000, which PostgreSQL cannot store")
      }
      bytes.append(contentsOf: value.utf8)
    case (.bytea, .bytes(let value)): bytes.append(contentsOf: value)
    case (.uuid, .uuid(let high, let low)):
      bytes.appendBigEndian(high)
      bytes.appendBigEndian(low)
    case (.timestamptz, .date(let seconds)): bytes.appendBigEndian(try Self.microseconds(seconds))
    case (.jsonb, .json(let text)):
      bytes.append(1)
      bytes.append(contentsOf: text.utf8)
    default: throw .malformed
    }
  }

  private static func exactly<T: FixedWidthInteger>(
    _ value: Int64, _: T.Type
  ) throws(ValueRefusal) -> T {
    guard let value = T(exactly: value) else { throw .refused("is out of the range of its column") }
    return value
  }

  /// The server's count of microseconds since 2000; infinite dates become `infinity`.
  private static func microseconds(_ seconds: Double) throws(ValueRefusal) -> Int64 {
    if seconds == .infinity { return .max }
    if seconds == -.infinity { return .min }
    // 4713 BC to 294276 AD, the range of timestamptz.
    guard seconds > -211_845_000_000, seconds < 9_224_000_000_000 else {
      throw .refused("is a date out of the range of timestamptz")
    }
    let whole = seconds.rounded(.down)
    let fraction = ((seconds - whole) * 1_000_000).rounded()
    return (Int64(whole) + 366 * 86_400) * 1_000_000 + Int64(fraction)
  }
}
