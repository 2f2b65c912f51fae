internal import LodestoreEssentials

/// The members that values of a `Codable` type may have.
///
/// The type is decoded from a decoder without data, and so reveals its coding keys and the type of
/// each. The decoder returns zero, false, the text "0" and null. Its arrays have some elements,
/// because a custom `init(from:)` may read an element without checking the count.
///
/// When the type rejects a returned value, or decodes in an unusual way, its later members stay
/// unknown. Whether a name is one of its coding keys is always certain.
struct DocumentTypeMembers {
  /// The types of the requested names; `nil` for an unknown type.
  let types: [String: (any Decodable.Type)?]
  /// The requested names, in the order of the requests.
  let names: [String]
  /// The names of members that may be absent or null.
  let optional: Set<String>
  /// Whether decoding succeeded, so that there are no other members.
  let areComplete: Bool
  /// The type as which a value is decoded when it is not an object.
  let single: (any Decodable.Type)?
  private let keys: [any CodingKey.Type]

  init(of type: any Decodable.Type) {
    let found = FoundMembers()
    areComplete = (try? type.init(from: TypeProbe(found: found, depth: 1))) != nil
    types = found.types
    names = found.names
    optional = found.optional
    single = found.single
    keys = found.keys
  }

  /// Whether the members are known; false when the type does not decode from an object.
  var areKnown: Bool { !keys.isEmpty }

  func contains(_ name: String) -> Bool {
    types[name] != nil || keys.contains { $0.init(stringValue: name) != nil }
  }
}

private final class FoundMembers {
  private(set) var types: [String: (any Decodable.Type)?] = [:]
  private(set) var names: [String] = []
  private(set) var optional: Set<String> = []
  var single: (any Decodable.Type)?
  var keys: [any CodingKey.Type] = []

  func note(_ key: any CodingKey, _ type: (any Decodable.Type)? = nil, isRequired: Bool = false) {
    note(key.stringValue, type, isRequired: isRequired)
  }

  func note(_ name: String, _ type: (any Decodable.Type)? = nil, isRequired: Bool = false) {
    if types[name] == nil {
      names.append(name)
      // If a type requests a member several times, its first request decides whether the member is
      // optional.
      if !isRequired { optional.insert(name) }
    }
    types.updateValue(type ?? types[name] ?? nil, forKey: name)
  }
}

/// A decoder without data, which creates a sample value of a type to find the type's members.
private struct TypeProbe: Decoder {
  /// Collects the requested members of the probed type.
  ///
  /// `nil` while the value of a member is created, because members of members are not collected.
  let found: FoundMembers?
  let depth: Int
  /// The number of elements in an array.
  var elementCount = 0

  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  private static let deepest = 16
  /// The number of levels at which arrays have elements; deeper elements would multiply the work.
  private static let deepestElements = 3

  func value<T: Decodable>(of type: T.Type) throws -> T {
    if let value = Self.sample(of: type) { return value }
    guard depth < Self.deepest else { throw NoData() }
    let inner = TypeProbe(found: found, depth: depth + 1)
    guard DocumentType(type).element != nil else { return try T(from: inner) }
    let count = depth <= Self.deepestElements ? 4 : 0
    let filled = TypeProbe(found: nil, depth: depth + 1, elementCount: count)
    // A collection is first decoded with sample elements. If this fails, it is decoded without
    // elements.
    if let value = try? T(from: filled) { return value }
    return try T(from: inner)
  }

  private static func sample<T>(of type: T.Type) -> T? {
    let sample: Any? =
      switch type {
      case is Bool.Type: false
      case is String.Type: "0"
      case let type as any (BinaryInteger & DocumentValue).Type: type.init(0)
      case let type as any (BinaryFloatingPoint & DocumentValue).Type: type.init(0)
      case is Date.Type: Date(timeIntervalSinceReferenceDate: 0)
      case is UUID.Type: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
      case is Data.Type: Data()
      case is Decimal.Type: Decimal()
      case is URL.Type: URL(string: "a:")
      case is JSONValue.Type: JSONValue.null
      case let type as any CaseIterable.Type: Self.first(of: type)
      case let type as any RawRepresentable.Type: Self.first(of: type)
      default: nil
      }
    return sample as? T
  }

  private static func first<C: CaseIterable>(of type: C.Type) -> Any? { C.allCases.first }

  /// The first case of an enumeration with raw values that is not `CaseIterable`.
  ///
  /// Such an enumeration has at least one case, and no case has associated values. A byte of zero
  /// is therefore its first case.
  private static func first<R: RawRepresentable>(of type: R.Type) -> Any? {
    switch R.RawValue.self {
    case is String.Type:
      if let empty = ("" as? R.RawValue).flatMap(R.init(rawValue:)) { return empty }
    case is Int.Type:
      if let zero = (0 as? R.RawValue).flatMap(R.init(rawValue:)) { return zero }
    default: return nil
    }
    guard _isPOD(R.self), MemoryLayout<R>.size <= 1 else { return nil }
    return withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { place in
      place.storeBytes(of: 0, as: UInt8.self)
      return place.load(as: R.self)
    }
  }

  func container<Key: CodingKey>(keyedBy: Key.Type) -> KeyedDecodingContainer<Key> {
    found?.keys.append(Key.self)
    return KeyedDecodingContainer(KeyedProbe(probe: self))
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer { UnkeyedProbe(probe: self) }

  func singleValueContainer() -> any SingleValueDecodingContainer { SingleProbe(probe: self) }
}

private struct NoData: Error {}

private struct KeyedProbe<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let probe: TypeProbe

  var codingPath: [any CodingKey] { [] }
  var allKeys: [Key] { [] }

  func contains(_ key: Key) -> Bool {
    probe.found?.note(key)
    return false
  }

  func decodeNil(forKey key: Key) -> Bool {
    probe.found?.note(key)
    return true
  }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    probe.found?.note(key, type, isRequired: true)
    return try TypeProbe(found: nil, depth: probe.depth).value(of: type)
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) -> T? {
    probe.found?.note(key, type)
    return nil
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy _: Nested.Type, forKey key: Key
  ) -> KeyedDecodingContainer<Nested> {
    probe.found?.note(key, isRequired: true)
    return KeyedDecodingContainer(
      KeyedProbe<Nested>(probe: TypeProbe(found: nil, depth: probe.depth)))
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
    probe.found?.note(key, isRequired: true)
    return UnkeyedProbe(probe: TypeProbe(found: nil, depth: probe.depth + 1))
  }

  func superDecoder() -> any Decoder {
    probe.found?.note("super")
    return TypeProbe(found: nil, depth: probe.depth + 1)
  }

  func superDecoder(forKey key: Key) -> any Decoder {
    probe.found?.note(key)
    return TypeProbe(found: nil, depth: probe.depth + 1)
  }
}

// The protocol has default `decodeIfPresent` methods for these types, which would be chosen before
// the general method of this container.
extension KeyedProbe {
  private func absent<T: Decodable>(_ type: T.Type, _ key: Key) -> T? {
    probe.found?.note(key, type)
    return nil
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) -> Bool? { absent(type, key) }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) -> String? { absent(type, key) }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) -> Double? { absent(type, key) }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) -> Float? { absent(type, key) }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) -> Int? { absent(type, key) }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) -> Int8? { absent(type, key) }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) -> Int16? { absent(type, key) }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) -> Int32? { absent(type, key) }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) -> Int64? { absent(type, key) }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) -> UInt? { absent(type, key) }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) -> UInt8? { absent(type, key) }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) -> UInt16? { absent(type, key) }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) -> UInt32? { absent(type, key) }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) -> UInt64? { absent(type, key) }
}

private struct UnkeyedProbe: UnkeyedDecodingContainer {
  let probe: TypeProbe
  private(set) var currentIndex = 0

  init(probe: TypeProbe) { self.probe = probe }

  var codingPath: [any CodingKey] { [] }
  var count: Int? { probe.elementCount }
  var isAtEnd: Bool { currentIndex >= probe.elementCount }

  func decodeNil() throws -> Bool { throw NoData() }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    guard !isAtEnd else { throw NoData() }
    currentIndex += 1
    return try TypeProbe(found: nil, depth: probe.depth + 1).value(of: type)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy _: Nested.Type
  ) throws -> KeyedDecodingContainer<Nested> { throw NoData() }

  func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NoData() }

  func superDecoder() throws -> any Decoder { throw NoData() }
}

private struct SingleProbe: SingleValueDecodingContainer {
  let probe: TypeProbe

  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { true }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if let found = probe.found, found.single == nil, found.keys.isEmpty { found.single = type }
    return try probe.value(of: type)
  }
}
