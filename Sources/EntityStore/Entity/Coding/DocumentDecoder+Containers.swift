internal import LodestoreFormat

/// The decoder passed to a type's `init(from:)`, which is also its single value container.
struct DocumentValueDecoder: Decoder {
  let decoding: DocumentDecoding
  let offset: Int
  let depth: DocumentDecoding.Depth

  var codingPath: [any CodingKey] { decoding.path(to: offset) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(try DocumentKeyedDecoding<Key>(decoding, at: offset, depth))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try DocumentUnkeyedDecoding(decoding, at: offset, depth)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension DocumentValueDecoder: SingleValueDecodingContainer {
  func decodeNil() -> Bool { decoding.isNull(offset) }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try decoding.value(type, at: offset, depth)
  }
}

// MARK: - Objects

/// The members of one object, by name.
struct DocumentKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let decoding: DocumentDecoding
  private let object: Int
  private let depth: DocumentDecoding.Depth
  private let first: Int
  private let count: Int
  private let end: Int

  init(_ decoding: DocumentDecoding, at object: Int, _ depth: DocumentDecoding.Depth) throws {
    (first, count, end) = try decoding.enter(.object, at: object, depth)
    self.decoding = decoding
    self.object = object
    self.depth = depth
  }

  var codingPath: [any CodingKey] { decoding.path(to: object) }

  var allKeys: [Key] {
    decoding.names(first: first, count: count, end: end).compactMap { Key(stringValue: $0) }
  }

  private func member(_ key: some CodingKey) throws -> Int? {
    try decoding.member(key.stringValue, of: object, first: first, end: end, depth)
  }

  /// The offset of the value, or `nil` when it is absent or null.
  ///
  /// One lookup finds whether the member exists and is not null; the protocol's default
  /// `decodeIfPresent` needs three.
  private func present(_ key: Key) throws -> Int? {
    guard let value = try member(key), !decoding.isNull(value) else { return nil }
    return value
  }

  private func find(_ key: Key) throws -> Int {
    guard let value = try member(key) else {
      throw DecodingError.keyNotFound(
        key,
        decoding.context(
          object, found: "an object without it", expected: "the member '\(key.stringValue)'"))
    }
    return value
  }

  func contains(_ key: Key) -> Bool {
    do { return try member(key) != nil } catch {
      decoding.fail(error)
      return false
    }
  }

  func decodeNil(forKey key: Key) throws -> Bool { decoding.isNull(try find(key)) }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try decoding.value(type, at: find(key), depth.inside)
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try present(key).map { try decoding.value(type, at: $0, depth.inside) }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    KeyedDecodingContainer(
      try DocumentKeyedDecoding<NestedKey>(decoding, at: find(key), depth.inside))
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try DocumentUnkeyedDecoding(decoding, at: find(key), depth.inside)
  }

  func superDecoder() throws -> any Decoder { try decoder(PathKey.superclass) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }

  private func decoder(_ key: some CodingKey) throws -> any Decoder {
    let value = try member(key) ?? DocumentDecoding.missing
    return DocumentValueDecoder(decoding: decoding, offset: value, depth: depth.inside)
  }
}

// The protocol has default `decodeIfPresent` methods for these types, which would be chosen before
// the general method of this container.
extension DocumentKeyedDecoding {
  private func optional<V: DocumentValue>(_ key: Key) throws -> V? {
    try present(key).map { try decoding.direct(V.self, at: $0, depth.inside) }
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

// MARK: - Arrays

/// The elements of one array, in order.
///
/// After an element fails to decode, it is still the next one.
struct DocumentUnkeyedDecoding: UnkeyedDecodingContainer {
  private let decoding: DocumentDecoding
  private let array: Int
  private let depth: DocumentDecoding.Depth
  private var element: Int
  private let length: Int
  private let end: Int
  private(set) var currentIndex = 0

  init(_ decoding: DocumentDecoding, at array: Int, _ depth: DocumentDecoding.Depth) throws {
    (element, length, end) = try decoding.enter(.array, at: array, depth)
    self.decoding = decoding
    self.array = array
    self.depth = depth
  }

  var codingPath: [any CodingKey] { decoding.path(to: array) }
  /// The number of elements, which is at most the document's size in bytes, so that callers may
  /// reserve capacity for it.
  var count: Int? { length }
  var isAtEnd: Bool { currentIndex >= length }

  private func requireElement(_ type: Any.Type) throws {
    guard isAtEnd else { return }
    throw DecodingError.valueNotFound(
      type,
      decoding.context(
        array, found: "an array of \(length)", expected: "more than \(length) elements"))
  }

  private mutating func advance() throws {
    let next = try decoding.offset(after: element)
    guard currentIndex + 1 == length ? next == end : next < end else {
      throw decoding.damaged(
        FormatError("an array's elements do not end where its length says"), array)
    }
    element = next
    currentIndex += 1
  }

  mutating func decodeNil() throws -> Bool {
    try requireElement(Never.self)
    guard decoding.isNull(element) else { return false }
    try advance()
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try requireElement(type)
    let value = try decoding.value(type, at: element, depth.inside)
    try advance()
    return value
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try requireElement([String: Any].self)
    let nested = try DocumentKeyedDecoding<NestedKey>(decoding, at: element, depth.inside)
    try advance()
    return KeyedDecodingContainer(nested)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try requireElement([Any].self)
    let nested = try DocumentUnkeyedDecoding(decoding, at: element, depth.inside)
    try advance()
    return nested
  }

  mutating func superDecoder() throws -> any Decoder {
    try requireElement((any Decoder).self)
    let decoder = DocumentValueDecoder(decoding: decoding, offset: element, depth: depth.inside)
    try advance()
    return decoder
  }
}
