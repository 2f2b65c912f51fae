import LodestoreBytes

/// A cursor over encoded document values that allocates nothing and skips any value in O(1).
///
/// Reading never leaves the bytes and never traps, whatever the bytes hold. Rules that span values
/// are not checked, such as the order of members or the end of an array. Call
/// ``validate(onlyJSON:)`` first if the bytes are not trusted. A copy of the reader remembers a
/// position. After an error the offset is unspecified. The bytes must outlive the reader.
package struct DocumentReader {
  private let bytes: ByteView
  /// The start of the next value, or of the next member's name.
  package private(set) var offset = 0

  package init(_ bytes: ByteView) { self.bytes = bytes }

  package enum Kind: Sendable {
    case null, bool, integer, unsigned, double, text, data, date, uuid, decimal, array, object
  }

  package var isAtEnd: Bool { offset >= bytes.count }

  /// The kind of the next value, which is not consumed.
  package func kind() throws(FormatError) -> Kind {
    guard offset < bytes.count else { throw endsEarly() }
    switch bytes[offset] {
    case DocumentCode.null: return .null
    case DocumentCode.false, DocumentCode.true: return .bool
    case DocumentCode.integer: return .integer
    case DocumentCode.unsigned: return .unsigned
    case DocumentCode.double: return .double
    case DocumentCode.text: return .text
    case DocumentCode.data: return .data
    case DocumentCode.date: return .date
    case DocumentCode.uuid: return .uuid
    case DocumentCode.decimal: return .decimal
    case DocumentCode.array: return .array
    case DocumentCode.object: return .object
    default:
      throw FormatError(
        "a document has code 0x\(String(bytes[offset], radix: 16)), which is none that is listed",
        .documentCode,
        at: offset)
    }
  }

  package mutating func bool() throws(FormatError) -> Bool {
    try expect(.bool)
    return bytes[offset - 1] == DocumentCode.true
  }

  /// Reads an integer; throws if it is above `Int64.max`.
  package mutating func int64() throws(FormatError) -> Int64 {
    try expect(.integer)
    let zigzag = try leb128()
    return Int64(bitPattern: zigzag &>> 1) ^ -Int64(bitPattern: zigzag & 1)
  }

  /// Reads an integer of either code; throws if it is negative.
  package mutating func uint64() throws(FormatError) -> UInt64 {
    let start = offset
    guard try kind() == .unsigned else {
      guard let value = UInt64(exactly: try int64()) else {
        throw FormatError(
          "a document has a negative integer, expected an unsigned one", .documentInteger, at: start
        )
      }
      return value
    }
    offset += 1
    let value = try leb128()
    guard value > UInt64(Int64.max) else {
      throw FormatError(
        "an integer has code 0x4, must have code 0x3 when it fits", .documentInteger, at: start)
    }
    return value
  }

  package mutating func double() throws(FormatError) -> Double {
    try expect(.double)
    return Double(bitPattern: try word())
  }

  /// Reads the UTF-8 bytes of a text without validating them.
  package mutating func text() throws(FormatError) -> ByteView {
    try expect(.text)
    return try lengthAndBytes()
  }

  /// Reads a text; throws if it is not valid UTF-8.
  package mutating func string() throws(FormatError) -> String {
    let start = offset
    guard let string = String(validating: try text(), as: UTF8.self) else {
      throw FormatError("a text in a document is not valid UTF-8", .documentText, at: start)
    }
    return string
  }

  package mutating func data() throws(FormatError) -> ByteView {
    try expect(.data)
    return try lengthAndBytes()
  }

  /// Reads a date in seconds since 2001-01-01T00:00:00Z.
  package mutating func date() throws(FormatError) -> Double {
    try expect(.date)
    return Double(bitPattern: try word())
  }

  package mutating func uuid() throws(FormatError) -> UUIDBytes {
    try expect(.uuid)
    let high = try word().byteSwapped
    return UUIDBytes(high: high, low: try word().byteSwapped)
  }

  package mutating func decimal() throws(FormatError) -> DecimalValue {
    try expect(.decimal)
    let start = offset
    try advance(DecimalValue.byteCount)
    return try DecimalValue(bytes: bytes, at: start)
  }

  /// Reads the next value if it is a scalar or null; for an array or object returns `nil` and reads
  /// nothing.
  @inline(__always)
  package mutating func scalar() throws(FormatError) -> Value? {
    switch try kind() {
    case .null:
      offset += 1
      return .null
    case .bool: return .bool(try bool())
    case .integer: return .integer(try int64())
    case .unsigned: return .unsigned(try uint64())
    case .double: return .double(try double())
    case .text: return .string(try string())
    case .data: return .data(Array(try data()))
    case .date: return .date(try date())
    case .uuid: return .uuid(try uuid())
    case .decimal: return .decimal(try decimal())
    case .array, .object: return nil
    }
  }

  /// Enters an array: `count` values follow, and the last one ends at `end`.
  ///
  /// `count` never exceeds the number of bytes left.
  package mutating func enterArray() throws(FormatError) -> (count: Int, end: Int) {
    try expect(.array)
    return try enter(shortestItem: 1)
  }

  /// Enters an object: `count` members follow, each a ``name()`` and a value.
  ///
  /// `count` never exceeds the number of bytes left.
  package mutating func enterObject() throws(FormatError) -> (count: Int, end: Int) {
    try expect(.object)
    return try enter(shortestItem: 2)
  }

  /// Reads the UTF-8 bytes of a member's name without validating them.
  ///
  /// The member's value follows.
  package mutating func name() throws(FormatError) -> ByteView { try lengthAndBytes() }

  /// Throws unless the cursor is at `end`, where the array or object should end.
  package func expectEnd(_ end: Int) throws(FormatError) {
    guard offset == end else {
      throw FormatError(
        "an array or object ends at \(offset), its length says \(end)", .documentLength, at: offset)
    }
  }

  /// Skips the next value.
  package mutating func skip() throws(FormatError) {
    let kind = try kind()
    offset += 1
    switch kind {
    case .null, .bool: break
    case .integer, .unsigned: _ = try leb128()
    case .double, .date: try advance(8)
    case .text, .data: _ = try lengthAndBytes()
    case .uuid: try advance(16)
    case .decimal: try advance(DecimalValue.byteCount)
    case .array, .object: try advance(Int(try halfWord()))
    }
  }

  /// Skips the next value and returns its bytes.
  package mutating func value() throws(FormatError) -> ByteView {
    let start = offset
    try skip()
    return bytes[start..<offset]
  }

  /// The bytes of the member `name` of the object in `bytes`.
  ///
  /// Returns `nil` if there is no such member, or if `bytes` is not an object. O(members before
  /// it): the search relies on the order of the names and does not check it.
  package static func member(
    named name: String, in bytes: ByteView
  ) throws(FormatError) -> ByteView? {
    var reader = DocumentReader(bytes)
    guard try reader.kind() == .object else { return nil }
    let (count, _) = try reader.enterObject()
    for _ in 0..<count {
      let found = try reader.name()
      let isSame = found.elementsEqual(name.utf8)
      if !isSame, name.utf8.lexicographicallyPrecedes(found) { return nil }
      if isSame { return try reader.value() }
      try reader.skip()
    }
    return nil
  }
}

// MARK: - Validation

extension DocumentReader {
  /// Checks that the bytes are exactly one document that follows every rule.
  ///
  /// With `onlyJSON`, also checks that the document holds only JSON's types. The limit on nesting
  /// bounds the use of stack, the number of bytes bounds the time.
  package func validate(onlyJSON: Bool = false) throws(FormatError) {
    var reader = DocumentReader(bytes)
    try reader.validateValue(depth: 0, onlyJSON: onlyJSON)
    guard reader.isAtEnd else {
      throw FormatError(
        "a document ends at \(reader.offset), its bytes at \(bytes.count)", .documentLength,
        at: reader.offset)
    }
  }

  private mutating func validateValue(depth: Int, onlyJSON: Bool) throws(FormatError) {
    let start = offset
    switch try kind() {
    case .integer: _ = try int64()
    case .unsigned: _ = try uint64()
    case .text: try requireUTF8(try text(), start)
    case .null, .bool, .double: try skip()
    case .array:
      try requireNesting(depth)
      let (count, end) = try enterArray()
      for _ in 0..<count { try validateValue(depth: depth + 1, onlyJSON: onlyJSON) }
      try expectEnd(end)
    case .object:
      try requireNesting(depth)
      try validateMembers(depth: depth, onlyJSON: onlyJSON)
    case .data, .date, .uuid, .decimal:
      guard !onlyJSON else {
        throw FormatError(
          "a JSON document has a value that JSON does not have", .recordJSON, at: start)
      }
      if try kind() == .decimal { _ = try decimal() } else { try skip() }
    }
  }

  private mutating func validateMembers(depth: Int, onlyJSON: Bool) throws(FormatError) {
    let (count, end) = try enterObject()
    var previous: ByteView?
    for _ in 0..<count {
      let start = offset
      let name = try name()
      try requireUTF8(name, start)
      guard previous?.lexicographicallyPrecedes(name) != false else {
        throw FormatError(
          "an object's members are not in ascending order of names", .documentMemberOrder, at: start
        )
      }
      previous = name
      try validateValue(depth: depth + 1, onlyJSON: onlyJSON)
    }
    try expectEnd(end)
  }

  private func requireNesting(_ depth: Int) throws(FormatError) {
    guard depth < Document.deepestNesting else {
      throw FormatError(
        "a document is nested deeper than \(Document.deepestNesting)", .documentNesting, at: offset)
    }
  }

  private func requireUTF8(_ text: ByteView, _ start: Int) throws(FormatError) {
    if text.reduce(0, |) < 0x80 { return }
    guard String(validating: text, as: UTF8.self) != nil else {
      throw FormatError("a text in a document is not valid UTF-8", .documentText, at: start)
    }
  }
}

// MARK: - Bytes

extension DocumentReader {
  private func endsEarly() -> FormatError {
    FormatError("a document ends within a value", .documentLength, at: offset)
  }

  /// Consumes the code of the next value; throws if its kind is not `expected`.
  private mutating func expect(_ expected: Kind) throws(FormatError) {
    let found = try kind()
    guard found == expected else {
      throw FormatError(
        "a document has a value of kind \(found), expected \(expected)", .documentCode, at: offset)
    }
    offset += 1
  }

  private mutating func advance(_ count: Int) throws(FormatError) {
    guard count <= bytes.count - offset else { throw endsEarly() }
    offset += count
  }

  private mutating func halfWord() throws(FormatError) -> UInt32 {
    try advance(4)
    return bytes.uint32(at: offset - 4)
  }

  private mutating func word() throws(FormatError) -> UInt64 {
    try advance(8)
    return bytes.uint64(at: offset - 8)
  }

  /// Reads an integer without a code, the form of lengths.
  package mutating func leb128() throws(FormatError) -> UInt64 {
    let start = offset
    if let number = VariableNumber.read(bytes, at: &offset) { return number }
    switch VariableNumber.fault(bytes, at: start) {
    case .endsEarly: throw endsEarly()
    case .exceeds64Bits:
      throw FormatError("an integer does not fit 64 bits", .documentInteger, at: start)
    case .isNotShortest:
      throw FormatError("an integer is not in its shortest form", .documentInteger, at: start)
    }
  }

  private mutating func lengthAndBytes() throws(FormatError) -> ByteView {
    let length = try leb128()
    guard length <= UInt64(bytes.count - offset) else { throw endsEarly() }
    let start = offset
    offset += Int(length)
    return bytes[start..<offset]
  }

  private mutating func enter(shortestItem: Int) throws(FormatError) -> (count: Int, end: Int) {
    let start = offset
    let length = Int(try halfWord())
    guard length >= 4, length <= bytes.count - offset else {
      throw FormatError(
        "an array or object has length \(length), must be from 4 to \(bytes.count - offset)",
        .documentLength,
        at: start)
    }
    let end = offset + length
    let count = Int(try halfWord())
    guard count <= (length - 4) / shortestItem else {
      throw FormatError(
        "an array or object has \(count) items, its length has room for "
          + "\((length - 4) / shortestItem)", .documentLength, at: start + 4)
    }
    return (count, end)
  }
}
