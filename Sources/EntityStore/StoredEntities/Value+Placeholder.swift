internal import LodestoreFormat

extension Value {
  /// A value of `type` that stands in for a value that is computed or set later: zero or empty.
  static func placeholder(of type: AttributeType) -> Value {
    switch type {
    case .bool: .bool(false)
    case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .recordID: .integer(0)
    case .float, .double: .double(0)
    case .date: .date(0)
    case .uuid: .uuid(UUIDBytes(high: 0, low: 0))
    case .decimal: .decimal(DecimalValue(isNegative: false, exponent: 0, significand: 0))
    case .string, .url: .string("")
    case .data: .data([])
    case .json, .document: .nullDocument
    }
  }
}
