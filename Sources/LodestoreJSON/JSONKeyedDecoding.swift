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

  /// The value, unless it is absent or null, with one search; the default implementation does three.
  @inline(__always)
  private func present(_ key: Key) -> Int? {
    guard let value = run.member(key, of: index, depth: depth), run.kind(value) != .null else {
      return nil
    }
    return value
  }

  func decodeNil(forKey key: Key) throws -> Bool { run.kind(try find(key)) == .null }

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

  func superDecoder() throws -> any Decoder { decoder(JSONPathKey(stringValue: "super")) }
  func superDecoder(forKey key: Key) throws -> any Decoder { decoder(key) }

  private func decoder(_ key: some CodingKey) -> any Decoder {
    let value = run.member(key, of: index, depth: depth)
    return JSONNodeDecoding(run: run, index: value ?? JSONDecoding.missing, depth: depth + 1)
  }
}

// MARK: - Scalars

extension JSONKeyedDecoding {
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try run.bool(find(key)) }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try run.string(find(key)) }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try run.double(find(key)) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try run.float(find(key)) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try run.integer(type, find(key))
  }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try run.integer(type, find(key))
  }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try run.integer(type, find(key))
  }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try run.integer(type, find(key))
  }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try run.integer(type, find(key))
  }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try run.integer(type, find(key))
  }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try run.integer(type, find(key))
  }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try run.integer(type, find(key))
  }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try run.integer(type, find(key))
  }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try run.integer(type, find(key))
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try present(key).map(run.bool)
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try present(key).map(run.string)
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try present(key).map(run.double)
  }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try present(key).map(run.float)
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try present(key).map { try run.integer(type, $0) }
  }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try present(key).map { try run.integer(type, $0) }
  }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try present(key).map { try run.integer(type, $0) }
  }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try present(key).map { try run.integer(type, $0) }
  }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try present(key).map { try run.integer(type, $0) }
  }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try present(key).map { try run.integer(type, $0) }
  }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try present(key).map { try run.integer(type, $0) }
  }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try present(key).map { try run.integer(type, $0) }
  }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try present(key).map { try run.integer(type, $0) }
  }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try present(key).map { try run.integer(type, $0) }
  }
}
