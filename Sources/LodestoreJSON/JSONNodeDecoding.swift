/// The decoder that a type's `init(from:)` is given, and its own single value container.
struct JSONNodeDecoding: Decoder {
  let run: JSONDecoding
  let index: Int
  let depth: Int

  var codingPath: [any CodingKey] { run.path(to: index) }
  var userInfo: [CodingUserInfoKey: Any] { run.userInfo }

  func container<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(try JSONKeyedDecoding<Key>(run: run, index: index, depth: depth))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try JSONUnkeyedDecoding(run: run, index: index, depth: depth)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  /// The whole value; other decoders have to try one type after the other.
  var jsonValue: JSONValue {
    get throws {
      if index == JSONDecoding.missing { return .null }
      try run.refuseWideNumber(in: index)
      return JSONMaterial.value(run.document, index)
    }
  }
}

extension JSONNodeDecoding: SingleValueDecodingContainer {
  func decodeNil() -> Bool { run.kind(index) == .null }
  func decode(_ type: Bool.Type) throws -> Bool { try run.bool(index) }
  func decode(_ type: String.Type) throws -> String { try run.string(index) }
  func decode(_ type: Double.Type) throws -> Double { try run.double(index) }
  func decode(_ type: Float.Type) throws -> Float { try run.float(index) }
  func decode(_ type: Int.Type) throws -> Int { try run.integer(type, index) }
  func decode(_ type: Int8.Type) throws -> Int8 { try run.integer(type, index) }
  func decode(_ type: Int16.Type) throws -> Int16 { try run.integer(type, index) }
  func decode(_ type: Int32.Type) throws -> Int32 { try run.integer(type, index) }
  func decode(_ type: Int64.Type) throws -> Int64 { try run.integer(type, index) }
  func decode(_ type: UInt.Type) throws -> UInt { try run.integer(type, index) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try run.integer(type, index) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try run.integer(type, index) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try run.integer(type, index) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try run.integer(type, index) }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try run.value(type, at: index, depth: depth)
  }
}
