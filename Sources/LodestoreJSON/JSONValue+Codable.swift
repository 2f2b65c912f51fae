extension JSONValue: Codable {
  /// Reads any value from the decoder.
  ///
  /// With a decoder of another library the kind is determined by trial, so a double with an
  /// integral value may arrive as an integer. Integers of 64 bits are exact if the decoder
  /// preserves them.
  @_documentation(visibility: internal)
  public init(from decoder: any Decoder) throws {
    if let decoder = decoder as? JSONNodeDecoding {
      self = try decoder.jsonValue
      return
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(UInt64.self) {
      self = JSONValue(value)
    } else if let value = try? container.decode(Double.self) {
      self = .double(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  /// Writes the value as one single value of the encoder.
  ///
  /// Throws any error of the encoder. Foundation's encoders refuse doubles that are not finite.
  @_documentation(visibility: internal)
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .unsigned(let value): try container.encode(value)
    case .double(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}
