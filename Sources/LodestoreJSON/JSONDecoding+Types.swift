internal import LodestoreEssentials

extension JSONDecoding {
  /// Decodes any type.
  ///
  /// Types that JSON or this store represents directly are decoded here, all others by their own
  /// `init(from:)`.
  ///
  /// Types are compared by pointer, the most frequent ones first. Decoding a list of strings
  /// through `Decodable` would make three containers.
  func value<T: Decodable>(_ type: T.Type, at index: Int, depth: Int) throws -> T {
    if type == String.self { return same(try string(index)) }
    if type == JSONValue.self { return same(try json(document, index)) }
    if type == Int.self { return same(try integer(Int.self, index)) }
    if type == Double.self { return same(try double(index)) }
    if type == Bool.self { return same(try bool(index)) }
    if type == Int64.self { return same(try integer(Int64.self, index)) }
    if type == Date.self { return same(try date(index)) }
    if type == [String].self { return same(try array(index) { try string($1) }) }
    if type == [String: JSONValue].self { return same(try dictionary(index, json)) }
    if type == [String: String].self { return same(try dictionary(index) { try string($1) }) }
    if type == [JSONValue].self { return same(try array(index, json)) }
    if type == URL.self { return same(try url(index)) }
    if type == UUID.self { return same(try uuid(index)) }
    if type == Data.self { return same(try data(index)) }
    if type == Decimal.self { return same(try decimal(index)) }
    if type == [Int].self { return same(try array(index) { try integer(Int.self, $1) }) }
    if type == [Double].self { return same(try array(index) { try double($1) }) }
    if type == [Bool].self { return same(try array(index) { try bool($1) }) }
    if type == [String: Int].self {
      return same(try dictionary(index) { try integer(Int.self, $1) })
    }
    if type == [String: Double].self { return same(try dictionary(index) { try double($1) }) }
    if type == [String: Bool].self { return same(try dictionary(index) { try bool($1) }) }
    return try T(from: JSONNodeDecoding(run: self, index: index, depth: depth))
  }

  /// Casts a value to `T`, which must be its type.
  ///
  /// The caller has already compared the types. A conditional cast would compare them again at many
  /// times the cost.
  @inline(__always)
  private func same<Value, T>(_ value: Value) -> T { unsafeBitCast(value, to: T.self) }

  /// Throws if the value contains a number that `JSONValue` cannot represent.
  func refuseWideNumber(in index: Int) throws {
    guard let wide = document.wideNumber(in: index) else { return }
    throw corrupted(wide.index, "an integer of 64 bits or a number in the range of a double")
  }

  private func json(_ document: JSONDocument, _ index: Int) throws -> JSONValue {
    guard index != Self.missing else { return .null }
    try refuseWideNumber(in: index)
    let value = JSONMaterial.value(document, index)
    guard case .object(var members) = value, let key = rootKey(of: index) else { return value }
    members[key.name] = JSONMaterial.value(document, key.entry)
    return .object(members)
  }

  private func array<Element>(
    _ index: Int, _ make: (JSONDocument, Int) throws -> Element
  ) throws -> [Element] {
    guard kind(index) == .array else { throw mismatch([Element].self, index, "an array") }
    return try JSONMaterial.elements(document, index, make)
  }

  private func dictionary<Value>(
    _ index: Int, _ make: (JSONDocument, Int) throws -> Value
  ) throws -> [String: Value] {
    guard kind(index) == .object else { throw mismatch([String: Value].self, index, "an object") }
    var members = try JSONMaterial.members(document, index, make)
    if let key = rootKey(of: index) { members[key.name] = try make(document, key.entry) }
    return members
  }
}
