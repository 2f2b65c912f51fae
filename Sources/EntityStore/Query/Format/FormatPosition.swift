internal import LodestoreBytes

/// A position in a format string.
struct FormatPosition: Sendable, Hashable, CustomStringConvertible {
  /// The line, from 1; lines end with a line feed.
  var line: Int
  /// The column, from 1, in Unicode scalars (not bytes: see `offset`).
  var column: Int
  /// The offset in bytes of UTF-8.
  var offset: Int

  init(line: Int = 1, column: Int = 1, offset: Int = 0) {
    self.line = line
    self.column = column
    self.offset = offset
  }

  /// The position in words.
  var description: String { "line \(line), column \(column)" }

  /// Moves on to `offset`, which is not before the present one; O(distance).
  mutating func advance(to offset: Int, in text: ByteView) {
    while self.offset < min(offset, text.count) {
      let byte = text[self.offset]
      if byte == 0x0A {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
      self.offset += 1
    }
  }
}
