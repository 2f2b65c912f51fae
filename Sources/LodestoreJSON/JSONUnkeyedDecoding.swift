/// The elements of one array, in order.
///
/// If an element cannot be decoded, the container does not advance.
struct JSONUnkeyedDecoding: UnkeyedDecodingContainer {
  private let run: JSONDecoding
  private let index: Int
  private let depth: Int
  private var element: Int
  private let end: Int
  private(set) var currentIndex = 0

  init(run: JSONDecoding, index: Int, depth: Int) throws {
    guard run.kind(index) == .array else { throw run.mismatch([Any].self, index, "an array") }
    self.run = run
    self.index = index
    self.depth = depth
    element = index + 1
    end = Int(run.document.entries[index].link)
  }

  var codingPath: [any CodingKey] { run.path(to: index) }
  var count: Int? { run.document.entries[index].childCount }
  var isAtEnd: Bool { element >= end }

  /// The entry of the next element.
  ///
  /// Call `advance` after the element was decoded.
  @inline(__always)
  private func head(_ type: Any.Type) throws -> Int {
    guard element < end else {
      throw DecodingError.valueNotFound(
        type, run.context(index, "more than \(currentIndex) elements"))
    }
    return element
  }

  @inline(__always)
  private mutating func advance() {
    element = run.document.next(after: element)
    currentIndex += 1
  }

  mutating func decodeNil() throws -> Bool {
    guard run.kind(try head(Never.self)) == .null else { return false }
    advance()
    return true
  }

  @inline(__always)
  mutating func decode<T: JSONScalar>(_ type: T.Type) throws -> T {
    let value = try T.decoded(run, head(type))
    advance()
    return value
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let value = try run.value(type, at: head(type), depth: depth + 1)
    advance()
    return value
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    let container = try JSONKeyedDecoding<NestedKey>(
      run: run, index: head(type), depth: depth + 1)
    advance()
    return KeyedDecodingContainer(container)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try JSONUnkeyedDecoding(run: run, index: head([Any].self), depth: depth + 1)
    advance()
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let decoder = JSONNodeDecoding(
      run: run, index: try head((any Decoder).self), depth: depth + 1)
    advance()
    return decoder
  }
}
