internal import LodestoreBytes

/// Arrays of PostgreSQL as texts of JSON.
///
/// Dimensions become nested arrays; their lower bounds are lost. Numbers that JSON readers would
/// round become texts.
enum ArrayText {
  /// The server's limit of dimensions.
  private static let mostDimensions = 6

  static func json(
    _ bytes: ByteView, of element: PostgresType, _ infinity: InfiniteDates
  ) throws(ValueRefusal) -> String {
    var reader = MessageReader(bytes, "an array")
    do throws(PostgresError) {
      let dimensions = Int(try reader.int32())
      _ = try reader.int32()
      _ = try reader.int32()
      guard (0...mostDimensions).contains(dimensions) else { throw reader.failure("is malformed") }
      var counts: [Int] = []
      for _ in 0..<dimensions {
        counts.append(Int(try reader.int32()))
        _ = try reader.int32()
      }
      // An element has at least four bytes, which bounds the work for hostile counts.
      var product = 1
      for count in counts {
        let (next, overflows) = product.multipliedReportingOverflow(by: count)
        guard count > 0, !overflows, next <= reader.remaining / 4 else {
          throw reader.failure("is malformed")
        }
        product = next
      }
      if counts.isEmpty { return "[]" }
      var text = ""
      try append(counts[...], &reader, element, infinity, to: &text)
      try reader.end()
      return text
    } catch {
      if let refusal = error.cause as? ValueRefusal { throw refusal }
      throw .malformed
    }
  }

  private static func append(
    _ counts: ArraySlice<Int>, _ reader: inout MessageReader, _ element: PostgresType,
    _ infinity: InfiniteDates, to text: inout String
  ) throws(PostgresError) {
    guard let count = counts.first else {
      let length = try reader.int32()
      if length == -1 {
        text += "null"
        return
      }
      let bytes = try reader.view(Int(length))
      do throws(ValueRefusal) {
        text += json(of: try element.decode(bytes, infinity: infinity))
      } catch { throw PostgresError(.malformed, "", cause: error) }
      return
    }
    text += "["
    for position in 0..<count {
      if position > 0 { text += "," }
      try append(counts.dropFirst(), &reader, element, infinity, to: &text)
    }
    text += "]"
  }

  /// The JSON text of a value inside an array.
  private static func json(of value: PostgresValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .double(let value):
      value.isFinite
        ? "\(value)" : value.isNaN ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\""
    case .numeric(let value): quoted(value.text)
    case .text(let value): quoted(value)
    case .bytes: "null"
    case .uuid(let high, let low): quoted(UUIDText.text(high, low))
    case .date(let value): "\(value)"
    case .json(let value): value
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

/// The usual text of a UUID, in small letters.
enum UUIDText {
  static func text(_ high: UInt64, _ low: UInt64) -> String {
    func hex(_ value: UInt64, _ range: Range<Int>) -> String {
      let digits = String(value, radix: 16)
      let all = String(repeating: "0", count: 16 - digits.count) + digits
      return String(all.dropFirst(range.lowerBound).prefix(range.count))
    }
    return [
      hex(high, 0..<8), hex(high, 8..<12), hex(high, 12..<16), hex(low, 0..<4), hex(low, 4..<16),
    ]
    .joined(separator: "-")
  }
}
