internal import LodestoreEssentials
internal import LodestoreFormat

extension Reference: Codable {
  /// Encodes the key as one value.
  ///
  /// A key of one attribute is encoded as that attribute, a key of several attributes as their
  /// text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch stored.value {
    case .null, .document: try container.encodeNil()
    case .bool(let flag): try container.encode(flag)
    case .integer(let number): try container.encode(number)
    case .unsigned(let number): try container.encode(number)
    case .double(let number): try container.encode(number)
    case .date(let seconds): try container.encode(Date(timeIntervalSinceReferenceDate: seconds))
    case .uuid: try container.encode(UUID._value(from: stored))
    case .decimal: try container.encode(Decimal._value(from: stored))
    case .string(let text): try container.encode(text)
    case .data(let bytes): try container.encode(Data(bytes))
    }
  }

  /// Decodes a value that ``encode(to:)`` wrote.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    func decoded<V: AttributeValue & Decodable>(_: V.Type) throws -> StoredValue {
      try container.decode(V.self)._storedValue
    }
    let type = ReferenceKey.of(Target.self).storedType
    let stored =
      switch type {
      case .bool: try decoded(Bool.self)
      case .int8, .int16, .int32, .int64: try decoded(Int64.self)
      case .uint8, .uint16, .uint32, .uint64: try decoded(UInt64.self)
      case .float: try decoded(Float.self)
      case .double: try decoded(Double.self)
      case .date: try decoded(Date.self)
      case .uuid: try decoded(UUID.self)
      case .decimal: try decoded(Decimal.self)
      case .data: try decoded(Data.self)
      case .string, .url, .recordID, .json, .document: try decoded(String.self)
      }
    guard stored.value.fits(type) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "the value is no key of \(Target.schema.name)")
    }
    self.init(stored)
  }
}
