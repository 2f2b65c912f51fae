internal import LodestoreBytes

/// A position in a format string.
struct FormatPosition: Sendable, Hashable, CustomStringConvertible {
  /// The line, counted from 1.
  ///
  /// Lines end with a line feed.
  var line = 1
  /// The column, counted from 1 in Unicode scalars.
  var column = 1
  /// The offset in UTF-8 bytes.
  var offset = 0

  /// The position in words.
  var description: String { "line \(line), column \(column)" }

  /// Advances to `offset`, which must not be before the current offset; O(distance).
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
