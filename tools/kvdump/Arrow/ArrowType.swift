import LodestoreFormat

/// The type of a column in an Arrow stream.
enum ArrowType: Equatable {
  case bool
  case integer(bits: Int, isSigned: Bool)
  case float(bits: Int)
  /// Text; `isJSON` states whether each value is written as JSON.
  case text(isJSON: Bool)
  case binary
  /// Microseconds since 1970, UTC.
  case timestamp

  init(_ type: AttributeType) {
    switch type {
    case .bool: self = .bool
    case .int8, .int16, .int32, .int64: self = .integer(bits: 8 * type.slotSize, isSigned: true)
    case .uint8, .uint16, .uint32, .uint64, .recordID:
      self = .integer(bits: 8 * type.slotSize, isSigned: false)
    case .float, .double: self = .float(bits: 8 * type.slotSize)
    case .date: self = .timestamp
    case .data: self = .binary
    case .json, .document: self = .text(isJSON: true)
    case .uuid, .decimal, .string, .url: self = .text(isJSON: false)
    }
  }

  /// Whether a value has any number of bytes, so that a column has the ends of its values.
  var isVariable: Bool {
    switch self {
    case .text, .binary: true
    case .bool, .integer, .float, .timestamp: false
    }
  }

  /// Adds the type to a schema: the number of its kind, and the table with its properties.
  ///
  /// The numbers are in Arrow's Schema.fbs.
  func add(to message: inout FlatBuffer) -> (kind: Int64, table: Int) {
    switch self {
    case .bool: (6, message.table([]))
    case .integer(let bits, let isSigned):
      (2, message.table([.scalar(Int64(bits), size: 4), .flag(isSigned)]))
    case .float(let bits): (3, message.table([.scalar(bits == 32 ? 1 : 2, size: 2)]))
    case .text: (5, message.table([]))
    case .binary: (4, message.table([]))
    case .timestamp:
      (10, timestamp(in: &message))
    }
  }

  private func timestamp(in message: inout FlatBuffer) -> Int {
    let zone = message.string("UTC")
    return message.table([.scalar(2, size: 2), .object(zone)])
  }
}
