internal import LodestoreBytes
internal import LodestoreEssentials

/// Cells as JSON text, compact, on one line.
///
/// Characters that can control a terminal are written as `\u` escapes. Parsers read the same value,
/// and the terminal is not affected.
package enum CellJSON {
  package static func object(_ members: [(String, Cell)]) -> String {
    var bytes: [UInt8] = []
    appendObject(members.lazy.map { (Self.text($0.0), $0.1) }, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  package static func array(_ elements: [Cell]) -> String {
    var bytes: [UInt8] = [UInt8(ascii: "[")]
    for (offset, element) in elements.enumerated() {
      if offset > 0 { bytes.append(UInt8(ascii: ",")) }
      append(element == .absent ? .null : element, to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A text as a JSON string, quotes included.
  package static func text(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    appendText(text, to: &bytes)
    return bytes
  }

  /// Appends an object without its absent cells.
  ///
  /// The names are complete JSON strings.
  package static func appendObject(
    _ members: some Sequence<(name: [UInt8], cell: Cell)>, to bytes: inout [UInt8]
  ) {
    bytes.append(UInt8(ascii: "{"))
    var isFirst = true
    for (name, cell) in members where cell != .absent {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      bytes.append(contentsOf: name)
      bytes.append(UInt8(ascii: ":"))
      append(cell, to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  /// Appends one cell; an absent cell becomes null.
  package static func append(_ cell: Cell, to bytes: inout [UInt8]) {
    switch cell {
    case .absent, .null: bytes.append(contentsOf: "null".utf8)
    case .bool(let bool): bytes.append(contentsOf: (bool ? "true" : "false").utf8)
    case .integer(let integer): bytes.append(contentsOf: "\(integer)".utf8)
    case .unsigned(let integer): bytes.append(contentsOf: "\(integer)".utf8)
    case .count(let count), .byteCount(let count): bytes.append(contentsOf: "\(count)".utf8)
    case .double(let double), .share(let double): appendDouble(double, to: &bytes)
    case .number(let literal): bytes.append(contentsOf: literal.utf8)
    case .text(let text), .date(let text): appendText(text, to: &bytes)
    case .bytes(let data): appendText(Data(data).base64EncodedString(), to: &bytes)
    case .json(let text): appendJSON(text, to: &bytes)
    }
  }

  /// Appends a double.
  ///
  /// JSON has no infinities and no NaN, so they become texts and are not lost.
  private static func appendDouble(_ double: Double, to bytes: inout [UInt8]) {
    if double.isFinite {
      bytes.append(contentsOf: "\(double)".utf8)
    } else if double.isNaN {
      bytes.append(contentsOf: "\"NaN\"".utf8)
    } else {
      bytes.append(contentsOf: (double < 0 ? "\"-Infinity\"" : "\"Infinity\"").utf8)
    }
  }

  private static func appendText(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { utf8 in
      var offset = 0
      while offset < utf8.count {
        let byte = utf8[offset]
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
          bytes.append(UInt8(ascii: "\\"))
          bytes.append(byte)
          offset += 1
        case 0x0A, 0x0D, 0x09:
          bytes.append(UInt8(ascii: "\\"))
          bytes.append(UInt8(ascii: byte == 0x0A ? "n" : byte == 0x0D ? "r" : "t"))
          offset += 1
        default: offset += appendScalar(of: ByteView(utf8), at: offset, to: &bytes)
        }
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Appends complete JSON in one line.
  ///
  /// Control characters are replaced by spaces. In complete JSON they only occur between tokens,
  /// because strings contain them as escapes.
  private static func appendJSON(_ text: String, to bytes: inout [UInt8]) {
    var text = text
    text.withUTF8 { utf8 in
      var offset = 0
      while offset < utf8.count {
        if utf8[offset] < 0x20 {
          bytes.append(UInt8(ascii: " "))
          offset += 1
        } else {
          offset += appendScalar(of: ByteView(utf8), at: offset, to: &bytes)
        }
      }
    }
  }

  /// Appends the byte at `offset`, or the scalar that starts there as an escape.
  ///
  /// Returns the number of bytes consumed.
  private static func appendScalar(
    of utf8: ByteView, at offset: Int, to bytes: inout [UInt8]
  ) -> Int {
    let byte = utf8[offset]
    // Only these bytes start a scalar that may be unsafe; see `UnsafeScalar`.
    guard byte < 0x20 || byte == 0x7F || byte == 0xC2 || byte == 0xD8 || byte == 0xE2 else {
      bytes.append(byte)
      return 1
    }
    let length = byte < 0x80 ? 1 : byte == 0xE2 ? 3 : 2
    guard offset + length <= utf8.count else {
      bytes.append(byte)
      return 1
    }
    var value = UInt32(length == 1 ? byte : byte & (length == 2 ? 0x1F : 0x0F))
    for step in 1..<max(length, 1) { value = value << 6 | UInt32(utf8[offset + step] & 0x3F) }
    guard let scalar = Unicode.Scalar(value), UnsafeScalar.matches(scalar) else {
      bytes.append(byte)
      return 1
    }
    let digits = String(value, radix: 16)
    bytes.append(contentsOf: "\\u".utf8)
    bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count))
    bytes.append(contentsOf: digits.utf8)
    return length
  }
}
