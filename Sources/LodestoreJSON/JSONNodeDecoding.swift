/// The decoder passed to a type's `init(from:)`.
///
/// The decoder is its own single value container.
struct JSONNodeDecoding: Decoder {
  let run: JSONDecoding
  let index: Int
  let depth: Int

  var codingPath: [any CodingKey] { run.path(to: index) }
  var userInfo: [CodingUserInfoKey: Any] { run.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(try JSONKeyedDecoding<Key>(run: run, index: index, depth: depth))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try JSONUnkeyedDecoding(run: run, index: index, depth: depth)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  /// The whole value.
  ///
  /// With this decoder, `JSONValue` takes it directly. With other decoders it must try one type
  /// after the other.
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

  @inline(__always)
  func decode<T: JSONScalar>(_ type: T.Type) throws -> T { try T.decoded(run, index) }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try run.value(type, at: index, depth: depth)
  }
}
