package import LodestoreBytes
internal import LodestoreEssentials
package import LodestoreFormat

/// Converts encoded documents to JSON text for display and export, without building the value.
///
/// Values that JSON lacks become text: dates in ISO 8601, UUIDs in their usual form, and data in
/// Base64. Numbers that are not finite become `"NaN"`, `"Infinity"` and `"-Infinity"`, and a
/// decimal becomes a number.
package enum DocumentText {
  /// Appends `document` as compact JSON.
  ///
  /// If the document breaks the format, this throws after it has appended a part of the text.
  package static func append(_ document: ByteView, to bytes: inout [UInt8]) throws(FormatError) {
    var reader = DocumentReader(document)
    try appendValue(&reader, to: &bytes, nesting: 0)
    guard reader.isAtEnd else {
      throw FormatError("a document ends before its bytes do", at: reader.offset)
    }
  }

  /// Returns the value at `path`, made of member names and element positions, or `nil` if none
  /// exists.
  package static func value(
    at path: some Collection<String>, in document: ByteView
  ) throws(FormatError) -> ByteView? {
    var found = document
    for part in path {
      var reader = DocumentReader(found)
      switch try reader.kind() {
      case .object:
        let next = try DocumentReader.member(named: part, in: found)
        guard let next else { return nil }
        found = next
      case .array:
        let (count, _) = try reader.enterArray()
        guard let index = JSONPathPart.index(part[...]), index < count else { return nil }
        for _ in 0..<index { try reader.skip() }
        found = try reader.value()
      default: return nil
      }
    }
    return found
  }

  private static func appendValue(
    _ reader: inout DocumentReader, to bytes: inout [UInt8], nesting: Int
  ) throws(FormatError) {
    guard nesting <= Document.deepestNesting else {
      throw FormatError("a document is nested too deep", at: reader.offset)
    }
    switch try reader.kind() {
    case .null:
      try reader.skip()
      bytes.append(contentsOf: "null".utf8)
    case .bool: bytes.append(contentsOf: (try reader.bool() ? "true" : "false").utf8)
    case .integer: bytes.append(contentsOf: String(try reader.int64()).utf8)
    case .unsigned: bytes.append(contentsOf: String(try reader.uint64()).utf8)
    case .double: append(try reader.double(), to: &bytes)
    case .text: JSONText.appendString(try reader.string(), to: &bytes)
    case .data: JSONText.appendString(Data(try reader.data()).base64EncodedString(), to: &bytes)
    case .date: JSONText.appendString(KeyText.text(of: .date(try reader.date())), to: &bytes)
    case .uuid: JSONText.appendString(try reader.uuid().text, to: &bytes)
    case .decimal:
      let decimal = try reader.decimal()
      bytes.append(contentsOf: (decimal.isNaN ? "\"NaN\"" : decimal.text).utf8)
    case .array:
      bytes.append(UInt8(ascii: "["))
      let (count, end) = try reader.enterArray()
      for index in 0..<count {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        try appendValue(&reader, to: &bytes, nesting: nesting + 1)
      }
      try reader.expectEnd(end)
      bytes.append(UInt8(ascii: "]"))
    case .object:
      bytes.append(UInt8(ascii: "{"))
      let (count, end) = try reader.enterObject()
      for index in 0..<count {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        let name = try reader.name()
        guard let text = String(validating: name, as: UTF8.self) else {
          throw FormatError("a member's name is not valid UTF-8", at: reader.offset)
        }
        JSONText.appendString(text, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        try appendValue(&reader, to: &bytes, nesting: nesting + 1)
      }
      try reader.expectEnd(end)
      bytes.append(UInt8(ascii: "}"))
    }
  }

  private static func append(_ number: Double, to bytes: inout [UInt8]) {
    let text =
      number.isFinite
      ? number.description
      : number.isNaN ? "\"NaN\"" : number < 0 ? "\"-Infinity\"" : "\"Infinity\""
    bytes.append(contentsOf: text.utf8)
  }
}
