import LodestoreBytes

/// The codes that start a document value.
///
/// See Format.md, "Documents".
@usableFromInline
enum DocumentCode {
  @inlinable static var null: UInt8 { 0x00 }
  @inlinable static var `false`: UInt8 { 0x01 }
  @inlinable static var `true`: UInt8 { 0x02 }
  @inlinable static var integer: UInt8 { 0x03 }
  @inlinable static var unsigned: UInt8 { 0x04 }
  @inlinable static var double: UInt8 { 0x05 }
  @inlinable static var text: UInt8 { 0x06 }
  @inlinable static var data: UInt8 { 0x07 }
  @inlinable static var date: UInt8 { 0x08 }
  @inlinable static var uuid: UInt8 { 0x09 }
  @inlinable static var decimal: UInt8 { 0x0a }
  @inlinable static var array: UInt8 { 0x0c }
  @inlinable static var object: UInt8 { 0x0d }
}

/// A document in memory as a tree.
///
/// The catalogue consists of such documents.
///
/// Records are read and written without this type, by ``DocumentReader`` and ``DocumentWriter``.
package indirect enum Document: Sendable, Hashable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// An integer above `Int64.max`. Smaller integers are `.integer`.
  case unsigned(UInt64)
  case double(Double)
  case string(String)
  case data([UInt8])
  /// A date in seconds since 2001-01-01T00:00:00Z.
  case date(Double)
  case uuid(UUIDBytes)
  case decimal(DecimalValue)
  case array([Document])
  case object([String: Document])

  /// The deepest allowed nesting of arrays and objects.
  package static let deepestNesting = 128

  /// The member `name` of an object; `nil` if it is absent or this is not an object.
  package subscript(name: String) -> Document? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }

  /// Encodes the document.
  ///
  /// The caller must respect ``deepestNesting``, which is not checked here.
  package func encoded() -> [UInt8] {
    var writer = DocumentWriter()
    write(to: &writer)
    return writer.bytes
  }

  /// Decodes all of `bytes` and checks every rule of Format.md.
  ///
  /// Also throws for a valid document that this tree cannot hold. Such a document has two member
  /// names that are equal as Swift strings but differ in bytes, such as "é" as one scalar and as
  /// two.
  package init(decoding bytes: ByteView) throws(FormatError) {
    try DocumentReader(bytes).validate()
    var reader = DocumentReader(bytes)
    try self.init(reading: &reader)
  }
}

extension Document {
  private func write(to writer: inout DocumentWriter) {
    switch self {
    case .null: writer.writeNull()
    case .bool(let flag): writer.write(flag)
    case .integer(let number): writer.write(number)
    case .unsigned(let number): writer.write(number)
    case .double(let number): writer.write(number)
    case .string(let text): writer.write(text)
    case .data(let bytes): bytes._withBytes { writer.write(data: $0) }
    case .date(let seconds): writer.write(date: seconds)
    case .uuid(let uuid): writer.write(uuid)
    case .decimal(let decimal): writer.write(decimal)
    case .array(let values):
      let token = writer.beginArray()
      for value in values { value.write(to: &writer) }
      writer.endArray(token, count: values.count)
    case .object(let members):
      let token = writer.beginObject()
      for name in DocumentWriter.sortedNames(members.keys) {
        writer.writeName(name)
        (members[name] ?? .null).write(to: &writer)
      }
      writer.endObject(token, count: members.count)
    }
  }

  /// Reads one value of a validated document, so nesting and counts need no check.
  private init(reading reader: inout DocumentReader) throws(FormatError) {
    if let scalar = try reader.scalar() {
      self = EntityDescription.document(of: scalar)
    } else if try reader.kind() == .array {
      var values: [Document] = []
      let (count, _) = try reader.enterArray()
      for _ in 0..<count { values.append(try Document(reading: &reader)) }
      self = .array(values)
    } else {
      var members: [String: Document] = [:]
      let (count, _) = try reader.enterObject()
      for _ in 0..<count {
        let start = reader.offset
        let name = String(decoding: try reader.name(), as: UTF8.self)
        guard members.updateValue(try Document(reading: &reader), forKey: name) == nil else {
          throw FormatError(
            "a member name differs from another only in normalization", .documentMemberOrder,
            at: start)
        }
      }
      self = .object(members)
    }
  }
}
