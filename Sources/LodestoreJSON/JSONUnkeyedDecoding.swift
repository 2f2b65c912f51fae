/// The elements of one array, in order.
///
/// When an element cannot be decoded, the container does not advance.
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

  /// The entry of the next element; `advance` follows once it is decoded.
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

// MARK: - Scalars

extension JSONUnkeyedDecoding {
  mutating func decode(_ type: Bool.Type) throws -> Bool {
    let value = try run.bool(head(type))
    advance()
    return value
  }

  mutating func decode(_ type: String.Type) throws -> String {
    let value = try run.string(head(type))
    advance()
    return value
  }

  mutating func decode(_ type: Double.Type) throws -> Double {
    let value = try run.double(head(type))
    advance()
    return value
  }

  mutating func decode(_ type: Float.Type) throws -> Float {
    let value = try run.float(head(type))
    advance()
    return value
  }

  private mutating func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
    let value = try run.integer(type, head(type))
    advance()
    return value
  }

  mutating func decode(_ type: Int.Type) throws -> Int { try integer(type) }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
  mutating func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
}
