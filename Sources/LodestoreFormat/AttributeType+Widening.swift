extension AttributeType {
  /// Whether each value of this type can become an equal value of `other`, unless it exceeds the
  /// range or precision of `other`.
  package func widens(to other: AttributeType) -> Bool {
    switch (self, other) {
    case (.float, .double), (.float, .decimal), (.double, .decimal): return true
    case (_, .float), (_, .double), (_, .decimal): return integerRange != nil
    default:
      guard let mine = integerRange, let wider = other.integerRange else { return false }
      return self != other && wider.low <= mine.low && mine.high <= wider.high
    }
  }

  /// The lowest and the highest value of an integer type; `nil` for the other types.
  package var integerRange: (low: Int64, high: UInt64)? {
    switch self {
    case .int8: (Int64(Int8.min), UInt64(Int8.max))
    case .int16: (Int64(Int16.min), UInt64(Int16.max))
    case .int32: (Int64(Int32.min), UInt64(Int32.max))
    case .int64: (.min, UInt64(Int64.max))
    case .uint8: (0, UInt64(UInt8.max))
    case .uint16: (0, UInt64(UInt16.max))
    case .uint32: (0, UInt64(UInt32.max))
    case .uint64: (0, .max)
    default: nil
    }
  }
}
