internal import LodestoreEssentials
internal import LodestoreFormat

/// The shortcut for types that documents hold without going through `Codable`.
///
/// Types are compared as pointers, the most frequent ones first. A protocol and a conditional cast
/// would be shorter and cost many times as much for each value. Going through `Codable` costs three
/// containers for a list of strings.
enum DocumentDirect {
  /// Writes `value` when its type has a shortcut; otherwise returns false and writes nothing.
  static func write<T>(
    _ value: T, to writer: inout DocumentWriter, nesting: Int
  ) throws(DocumentNestingError) -> Bool {
    func put<V: DocumentValue>(_: V.Type) throws(DocumentNestingError) -> Bool {
      try same(value, as: V.self).writeDocument(to: &writer, nesting: nesting)
      return true
    }
    if T.self == String.self { return try put(String.self) }
    if T.self == Int.self { return try put(Int.self) }
    if T.self == Double.self { return try put(Double.self) }
    if T.self == Bool.self { return try put(Bool.self) }
    if T.self == Int64.self { return try put(Int64.self) }
    if T.self == JSONValue.self { return try put(JSONValue.self) }
    if T.self == Date.self { return try put(Date.self) }
    if T.self == [String].self { return try put([String].self) }
    if T.self == [String: String].self { return try put([String: String].self) }
    if T.self == [String: JSONValue].self { return try put([String: JSONValue].self) }
    if T.self == [String: [String]].self { return try put([String: [String]].self) }
    if T.self == [JSONValue].self { return try put([JSONValue].self) }
    if T.self == [Int].self { return try put([Int].self) }
    if T.self == [Double].self { return try put([Double].self) }
    if T.self == [String: Int].self { return try put([String: Int].self) }
    if T.self == [String: Double].self { return try put([String: Double].self) }
    if T.self == [String: Bool].self { return try put([String: Bool].self) }
    if T.self == [UInt8].self { return try put([UInt8].self) }
    if T.self == URL.self { return try put(URL.self) }
    if T.self == UUID.self { return try put(UUID.self) }
    if T.self == Data.self { return try put(Data.self) }
    if T.self == Decimal.self { return try put(Decimal.self) }
    if T.self == Float.self { return try put(Float.self) }
    if T.self == UInt64.self { return try put(UInt64.self) }
    if T.self == UInt.self { return try put(UInt.self) }
    if T.self == Int32.self { return try put(Int32.self) }
    if T.self == UInt32.self { return try put(UInt32.self) }
    if T.self == Int16.self { return try put(Int16.self) }
    if T.self == UInt16.self { return try put(UInt16.self) }
    if T.self == Int8.self { return try put(Int8.self) }
    if T.self == UInt8.self { return try put(UInt8.self) }
    return false
  }

  /// Reads a value when its type has a shortcut; otherwise returns nil and reads nothing.
  static func read<T>(
    _ type: T.Type, from reader: inout DocumentReader, nesting: Int
  ) throws(DocumentFault) -> T? {
    func take<V: DocumentValue>(_: V.Type) throws(DocumentFault) -> T? {
      same(try V.readDocument(from: &reader, nesting: nesting), as: type)
    }
    if type == String.self { return try take(String.self) }
    if type == Int.self { return try take(Int.self) }
    if type == Double.self { return try take(Double.self) }
    if type == Bool.self { return try take(Bool.self) }
    if type == Int64.self { return try take(Int64.self) }
    if type == JSONValue.self { return try take(JSONValue.self) }
    if type == Date.self { return try take(Date.self) }
    if type == [String].self { return try take([String].self) }
    if type == [String: String].self { return try take([String: String].self) }
    if type == [String: JSONValue].self { return try take([String: JSONValue].self) }
    if type == [String: [String]].self { return try take([String: [String]].self) }
    if type == [JSONValue].self { return try take([JSONValue].self) }
    if type == [Int].self { return try take([Int].self) }
    if type == [Double].self { return try take([Double].self) }
    if type == [String: Int].self { return try take([String: Int].self) }
    if type == [String: Double].self { return try take([String: Double].self) }
    if type == [String: Bool].self { return try take([String: Bool].self) }
    if type == [UInt8].self { return try take([UInt8].self) }
    if type == URL.self { return try take(URL.self) }
    if type == UUID.self { return try take(UUID.self) }
    if type == Data.self { return try take(Data.self) }
    if type == Decimal.self { return try take(Decimal.self) }
    if type == Float.self { return try take(Float.self) }
    if type == UInt64.self { return try take(UInt64.self) }
    if type == UInt.self { return try take(UInt.self) }
    if type == Int32.self { return try take(Int32.self) }
    if type == UInt32.self { return try take(UInt32.self) }
    if type == Int16.self { return try take(Int16.self) }
    if type == UInt16.self { return try take(UInt16.self) }
    if type == Int8.self { return try take(Int8.self) }
    if type == UInt8.self { return try take(UInt8.self) }
    return nil
  }

  /// Converts a value to the generic type that is equal to its own type.
  ///
  /// The caller has compared the types. A conditional cast would compare them again at many times
  /// the cost.
  @inline(__always)
  private static func same<T, V>(_ value: T, as _: V.Type) -> V { unsafeBitCast(value, to: V.self) }
}

// MARK: - Arrays and dictionaries of those types

extension Array: DocumentValue where Element: DocumentValue {
  func writeDocument(to writer: inout DocumentWriter, nesting: Int) throws(DocumentNestingError) {
    guard nesting < Document.deepestNesting else { throw DocumentNestingError() }
    let token = writer.beginArray()
    for element in self { try element.writeDocument(to: &writer, nesting: nesting + 1) }
    writer.endArray(token, count: count)
  }

  static func readDocument(
    from reader: inout DocumentReader, nesting: Int
  ) throws(DocumentFault) -> [Element] {
    let start = reader
    let (count, end): (Int, Int)
    do { (count, end) = try reader.enterArray() } catch {
      throw DocumentFault(error, Self.self, .array, expected: "an array", at: start)
    }
    guard nesting < Document.deepestNesting else { throw .tooDeep(Self.self, at: start.offset) }
    var elements: [Element] = []
    elements.reserveCapacity(Swift.min(count, DocumentMembers.largestReservation))
    for _ in 0..<count {
      elements.append(try Element.readDocument(from: &reader, nesting: nesting + 1))
    }
    do { try reader.expectEnd(end) } catch {
      throw DocumentFault(.damaged(error), Self.self, expected: "an array", at: start.offset)
    }
    return elements
  }
}

extension Dictionary: DocumentValue where Key == String, Value: DocumentValue {
  func writeDocument(to writer: inout DocumentWriter, nesting: Int) throws(DocumentNestingError) {
    guard nesting < Document.deepestNesting else { throw DocumentNestingError() }
    let token = writer.beginObject()
    for (name, value) in DocumentMembers.sorted(self) {
      writer.writeName(name)
      try value.writeDocument(to: &writer, nesting: nesting + 1)
    }
    writer.endObject(token, count: count)
  }

  static func readDocument(
    from reader: inout DocumentReader, nesting: Int
  ) throws(DocumentFault) -> [String: Value] {
    let start = reader
    let (count, end): (Int, Int)
    do { (count, end) = try reader.enterObject() } catch {
      throw DocumentFault(error, Self.self, .object, expected: "an object", at: start)
    }
    guard nesting < Document.deepestNesting else { throw .tooDeep(Self.self, at: start.offset) }
    let damaged = { (error: FormatError) in
      DocumentFault(.damaged(error), Self.self, expected: "an object", at: start.offset)
    }
    var members: [String: Value] = [:]
    members.reserveCapacity(Swift.min(count, DocumentMembers.largestReservation))
    for _ in 0..<count {
      let name: String
      do { name = try reader.memberName() } catch { throw damaged(error) }
      let value = try Value.readDocument(from: &reader, nesting: nesting + 1)
      guard members.updateValue(value, forKey: name) == nil else {
        throw damaged(DocumentMembers.equivalentNames(at: reader.offset))
      }
    }
    do { try reader.expectEnd(end) } catch { throw damaged(error) }
    return members
  }
}
