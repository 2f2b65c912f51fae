/// The members of one object, by key.
struct JSONKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let run: JSONDecoding
  private let index: Int
  private let depth: Int

  init(run: JSONDecoding, index: Int, depth: Int) throws {
    guard run.kind(index) == .object else {
      throw run.mismatch([String: Any].self, index, "an object")
    }
    self.run = run
    self.index = index
    self.depth = depth
  }

  var codingPath: [any CodingKey] { run.path(to: index) }

  var allKeys: [Key] {
    let names = JSONNode(document: run.document, index: index).members.map(\.key)
    return (names + (run.rootKey(of: index).map { [$0.name] } ?? [])).compactMap {
      Key(stringValue: $0)
    }
  }

  func contains(_ key: Key) -> Bool { run.member(key, of: index, depth: depth) != nil }

  @inline(__always)
  private func find(_ key: Key) throws -> Int {
    guard let value = run.member(key, of: index, depth: depth) else {
      throw run.keyNotFound(key, index)
    }
    return value
  }

  /// The index of the value of `key` in the document; `nil` if the value is absent or null.
  ///
  /// One search finds the value. The default implementation of `decodeIfPresent` searches three
  /// times.
  @inline(__always)
  private func present(_ key: Key) -> Int? {
    guard let value = run.member(key, of: index, depth: depth), run.kind(value) != .null else {
      return nil
    }
    return value
  }

  func decodeNil(forKey key: Key) throws -> Bool { run.kind(try find(key)) == .null }

  // The function is inlined, so that the compiler specializes it for each scalar type.
  @inline(__always)
  func decode<T: JSONScalar>(_ type: T.Type, forKey key: Key) throws -> T {
    try T.decoded(run, find(key))
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try run.value(type, at: find(key), depth: depth + 1)
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try present(key).map { try run.value(type, at: $0, depth: depth + 1) }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    KeyedDecodingContainer(
      try JSONKeyedDecoding<NestedKey>(run: run, index: find(key), depth: depth + 1))
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try JSONUnkeyedDecoding(run: run, index: find(key), depth: depth + 1)
  }

  func superDecoder() throws -> any Decoder { decoder(PathKey.superclass) }
  func superDecoder(forKey key: Key) throws -> any Decoder { decoder(key) }

  private func decoder(_ key: some CodingKey) -> any Decoder {
    let value = run.member(key, of: index, depth: depth)
    return JSONNodeDecoding(run: run, index: value ?? JSONDecoding.missing, depth: depth + 1)
  }
}

// The protocol has default `decodeIfPresent` methods for these types, which would be chosen before
// the general method of this container.
extension JSONKeyedDecoding {
  @inline(__always)
  private func optional<T: JSONScalar>(_ key: Key) throws -> T? {
    try present(key).map { try T.decoded(run, $0) }
  }

  func decodeIfPresent(_: Bool.Type, forKey key: Key) throws -> Bool? { try optional(key) }
  func decodeIfPresent(_: String.Type, forKey key: Key) throws -> String? { try optional(key) }
  func decodeIfPresent(_: Double.Type, forKey key: Key) throws -> Double? { try optional(key) }
  func decodeIfPresent(_: Float.Type, forKey key: Key) throws -> Float? { try optional(key) }
  func decodeIfPresent(_: Int.Type, forKey key: Key) throws -> Int? { try optional(key) }
  func decodeIfPresent(_: Int8.Type, forKey key: Key) throws -> Int8? { try optional(key) }
  func decodeIfPresent(_: Int16.Type, forKey key: Key) throws -> Int16? { try optional(key) }
  func decodeIfPresent(_: Int32.Type, forKey key: Key) throws -> Int32? { try optional(key) }
  func decodeIfPresent(_: Int64.Type, forKey key: Key) throws -> Int64? { try optional(key) }
  func decodeIfPresent(_: UInt.Type, forKey key: Key) throws -> UInt? { try optional(key) }
  func decodeIfPresent(_: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(key) }
  func decodeIfPresent(_: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(key) }
  func decodeIfPresent(_: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(key) }
  func decodeIfPresent(_: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(key) }
}
