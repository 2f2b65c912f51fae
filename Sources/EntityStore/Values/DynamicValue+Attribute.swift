internal import LodestoreFormat

extension DynamicValue {
  /// Returns the value as one of `type`, or `nil` if it does not fit.
  func stored(in type: AttributeType) -> Value? {
    if isNull { return .null }
    let value: Value? =
      switch (self, type) {
      case (.double(let number), .int8), (.double(let number), .int16),
        (.double(let number), .int32), (.double(let number), .int64),
        (.double(let number), .uint8), (.double(let number), .uint16),
        (.double(let number), .uint32), (.double(let number), .uint64),
        (.double(let number), .recordID):
        Int64(exactly: number).map { .integer($0) }
      case (.integer(let number), .double), (.integer(let number), .float):
        .double(type == .float ? Double(Float(number)) : Double(number))
      // A number beyond the range of `Float` does not fit, and does not become infinity.
      case (.double(let number), .float):
        number.isFinite && Float(number).isInfinite ? nil : .double(Double(Float(number)))
      case (.integer(let number), .decimal):
        .decimal(
          DecimalValue(
            isNegative: number < 0, exponent: 0, significand: UInt128(number.magnitude)))
      case (.double(let number), .decimal):
        DecimalValue(text: number.description).map { .decimal($0) }
      case (.collection, .json), (.collection, .document): owned
      case (_, .json), (_, .document): scalarDocument
      default: owned
      }
    return value.flatMap { $0.fits(type) ? $0 : nil }
  }

  /// The value as a document, if it is a scalar.
  private var scalarDocument: Value? {
    switch self {
    case .null, .bool, .integer, .unsigned, .double, .text, .string:
      .document(EntityDescription.document(of: owned).encoded())
    default: nil
    }
  }
}

extension DynamicValue {
  /// The value with its bytes copied.
  var owned: Value {
    switch self {
    case .null, .list: .null
    case .bool(let flag): .bool(flag)
    case .integer(let number): .integer(number)
    case .unsigned(let number): .unsigned(number)
    case .double(let number): .double(number)
    case .decimal(let number): .decimal(number)
    case .date(let seconds): .date(seconds)
    case .uuid(let uuid): .uuid(uuid)
    case .text, .string: .string(string ?? "")
    case .data(let bytes): .data(Array(bytes))
    case .bytes(let bytes): .data(bytes)
    case .collection(let document): .document(Array(document))
    }
  }
}
