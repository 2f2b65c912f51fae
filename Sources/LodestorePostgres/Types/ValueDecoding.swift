internal import LodestoreBytes

extension PostgresType {
  /// Days from 2000-01-01, the server's epoch, to 2001-01-01, the store's.
  private static let epochDays = 366
  private static let secondsPerDay = 86_400.0
  /// The first instant of the year 1 and of the year 10000, in seconds since 2001.
  private static let clampedDates = (first: -63_113_904_000.0, last: 252_423_993_600.0)

  /// Decodes a value from its binary form.
  func decode(
    _ bytes: ByteView, infinity: InfiniteDates = .refuse
  ) throws(ValueRefusal) -> PostgresValue {
    switch self {
    case .bool: return .bool(try integer(bytes, UInt8.self) != 0)
    case .int2: return .integer(Int64(try integer(bytes, Int16.self)))
    case .int4: return .integer(Int64(try integer(bytes, Int32.self)))
    case .int8: return .integer(try integer(bytes, Int64.self))
    case .oid: return .integer(Int64(try integer(bytes, UInt32.self)))
    case .float4: return .double(Double(Float(bitPattern: try integer(bytes, UInt32.self))))
    case .float8: return .double(Double(bitPattern: try integer(bytes, UInt64.self)))
    case .numeric: return .numeric(try PostgresNumeric(bytes))
    case .text, .enumeration: return .text(try text(bytes))
    case .bytea: return .bytes(Array(bytes))
    case .uuid:
      guard bytes.count == 16 else { throw .malformed }
      return .uuid(high: bytes.bigEndianUInt64(at: 0), low: bytes.bigEndianUInt64(at: 8))
    case .date:
      let days = try integer(bytes, Int32.self)
      if days == .max || days == .min { return try Self.infinite(days == .max, infinity) }
      return .date((Double(days) - Double(Self.epochDays)) * Self.secondsPerDay)
    case .timestamp, .timestamptz:
      let microseconds = try integer(bytes, Int64.self)
      if microseconds == .max || microseconds == .min {
        return try Self.infinite(microseconds == .max, infinity)
      }
      // The whole seconds are exact, so that only the fraction is rounded.
      let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
      return .date(
        Double(seconds - Int64(Self.epochDays) * 86_400) + Double(rest) / 1_000_000)
    case .json: return .json(try text(bytes))
    case .jsonb:
      guard bytes.first == 1 else { throw .malformed }
      return .json(try text(bytes[1...]))
    case .array(let element): return .json(try ArrayText.json(bytes, of: element, infinity))
    case .unsupported(let name, let advice):
      throw .refused("has the type \(name), which a store does not have; \(advice)")
    }
  }

  private static func infinite(
    _ isPositive: Bool, _ rule: InfiniteDates
  ) throws(ValueRefusal) -> PostgresValue {
    switch rule {
    case .refuse:
      throw .refused(
        "is \(isPositive ? "" : "-")infinity, which a store cannot hold; choose another rule for "
          + "infinite dates, or change the value")
    case .null: return .null
    case .clamp: return .date(isPositive ? clampedDates.last : clampedDates.first)
    }
  }

  @inline(__always)
  private func integer<T: FixedWidthInteger & BitwiseCopyable>(
    _ bytes: ByteView, _: T.Type
  ) throws(ValueRefusal) -> T {
    guard bytes.count == MemoryLayout<T>.size else { throw .malformed }
    return T(bigEndian: bytes.loadUnaligned(as: T.self))
  }

  @inline(__always)
  private func text(_ bytes: ByteView) throws(ValueRefusal) -> String {
    guard let text = String(validating: bytes.unsafeBytes, as: UTF8.self) else {
      throw .refused("is not UTF-8; convert the database from SQL_ASCII to UTF8")
    }
    return text
  }
}
