import LodestoreBytes
import LodestoreFormat
import LodestoreJSON

@testable import EntityStore

extension FuzzTarget {
  /// Values of attributes that are documents: the tree, the reader, and the Swift types that decode
  /// them.
  static let document = FuzzTarget("document", longestInput: 1_024) {
    let texts = [
      "[]", "[[1,-2.5,18446744073709551615],null,true,\"é\"]",
      "{\"a\":{\"b\":[{\"c\":\"x\"}]},\"d\":\"data:00ff\",\"e\":\"date:1.5\"}",
      "{\"tags\":[\"b\",\"a\",\"b\"],\"n\":{}}",
    ]
    let decimal = DecimalValue(isNegative: false, exponent: 3, significand: 17)
    return try texts.map { text in
      try Array(text.utf8)._withBytes { try DocumentInput.document($0).encoded() }
    } + [Document.array([.uuid(UUIDBytes(high: 1, low: 2)), .decimal(decimal)]).encoded()]
  } run: { bytes in
    walk(bytes)
    for path in [[], ["a"], ["a", "b"]] {
      _ = try? DocumentMember.value(at: path, of: bytes, as: .int16)
      _ = try? DocumentElements.keys(at: path, of: bytes)
    }
    for mapping in [TextMapping.canonical, .uppercase, .lowercase] { _ = mapping.mapped(bytes) }
    let value = try? DocumentCoding.decode(JSONValue.self, from: bytes)
    _ = try? DocumentCoding.decode([String: [String]].self, from: bytes)
    _ = try? DocumentCoding.decode([Double?].self, from: bytes)
    _ = try? JSONValue(anyDocument: bytes)
    if let value {
      // The bytes are compared, because not-a-number is not equal to itself.
      var first = DocumentWriter()
      var second = DocumentWriter()
      try DocumentCoding.encode(value, into: &first)
      let again = try first.withBytes { try DocumentCoding.decode(JSONValue.self, from: $0) }
      try DocumentCoding.encode(again, into: &second)
      require(first.bytes == second.bytes, "\(value) came back as \(again)")
    }
    let document = try Document(decoding: bytes)
    require(document.encoded().elementsEqual(bytes), "\(document) is encoded in another way")
  }

  /// Reads a document value by value without validating it first.
  private static func walk(_ bytes: ByteView) {
    var reader = DocumentReader(bytes)
    var last = -1
    do throws(FormatError) {
      while !reader.isAtEnd {
        require(reader.offset > last, "a step does not move on from \(last)")
        last = reader.offset
        switch try reader.kind() {
        case .null: try reader.skip()
        case .bool: _ = try reader.bool()
        case .integer: _ = try reader.int64()
        case .unsigned: _ = try reader.uint64()
        case .double: _ = try reader.double()
        case .text: _ = try reader.string()
        case .data: _ = try reader.data()
        case .date: _ = try reader.date()
        case .uuid: _ = try reader.uuid()
        case .decimal: _ = try reader.decimal()
        case .array: _ = try reader.enterArray()
        case .object: if try reader.enterObject().count > 0 { _ = try reader.name() }
        }
      }
    } catch {}
  }
}
