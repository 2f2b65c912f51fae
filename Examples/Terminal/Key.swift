/// A key that a person pressed.
public enum Key: Sendable, Hashable {
  /// A character that becomes part of a text.
  case character(Character)
  /// The key that deletes the character before the cursor.
  case backspace
  /// Ctrl-W: deletes the word before the cursor.
  case deleteWord
  /// Ctrl-U: deletes the line.
  case deleteLine
  /// Return or enter.
  case enter
  /// The escape key, alone.
  case escape
  /// Ctrl-D: the end of the input.
  case end
}

/// Converts the bytes that a terminal sends to keys.
///
/// Bytes come in pieces, so an incomplete character is stored until the next piece. A terminal
/// sends a key without a character, such as an arrow, as an escape byte and further bytes in one
/// piece. Such keys are left out. An escape byte at the end of a piece is the escape key.
struct KeyDecoder {
  private var rest: [UInt8] = []

  /// Returns the keys that `bytes` complete, and stores the rest.
  mutating func keys(in bytes: some Sequence<UInt8>) -> [Key] {
    rest += bytes
    var keys: [Key] = []
    var bytes = rest[...]
    while let byte = bytes.first {
      if byte == 0x1B {
        let length = Self.escapeLength(bytes)
        if length == 1 { keys.append(.escape) }
        bytes = bytes.dropFirst(length)
      } else if byte < 0x20 || byte == 0x7F {
        if let key = Self.controls[byte] { keys.append(key) }
        bytes = bytes.dropFirst()
      } else {
        let length = Self.characterLength(byte)
        guard bytes.count >= length else { break }
        let text = String(decoding: bytes.prefix(length), as: UTF8.self)
        keys += text.map { .character($0) }
        bytes = bytes.dropFirst(length)
      }
    }
    rest = Array(bytes)
    return keys
  }

  private static let controls: [UInt8: Key] = [
    0x04: .end, 0x08: .backspace, 0x0A: .enter, 0x0D: .enter, 0x15: .deleteLine,
    0x17: .deleteWord, 0x7F: .backspace,
  ]

  /// Returns the byte count of a UTF-8 character by its first byte; 1 for an invalid byte.
  private static func characterLength(_ first: UInt8) -> Int {
    switch first {
    case 0xC2...0xDF: 2
    case 0xE0...0xEF: 3
    case 0xF0...0xF4: 4
    default: 1
    }
  }

  /// Returns the number of bytes of an escape sequence: `ESC [ … letter`, `ESC O letter` or `ESC
  /// character`.
  private static func escapeLength(_ bytes: ArraySlice<UInt8>) -> Int {
    let behind = bytes.dropFirst()
    guard let second = behind.first else { return 1 }
    guard second == UInt8(ascii: "[") || second == UInt8(ascii: "O") else { return 2 }
    let parameters = behind.dropFirst().prefix { !(0x40...0x7E).contains($0) }
    return min(3 + parameters.count, bytes.count)
  }
}
