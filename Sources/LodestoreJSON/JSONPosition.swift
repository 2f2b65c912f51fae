import LodestoreBytes

/// A position in a JSON text or in its file.
public struct JSONPosition: Hashable, Sendable, CustomStringConvertible {
  /// The byte offset in the file, from 0.
  public let offset: Int
  /// The line, from 1.
  ///
  /// Lines end with a line feed.
  public let line: Int
  /// The column, from 1, in Unicode scalars.
  ///
  /// For bytes see `offset`.
  public let column: Int

  /// The position in words.
  public var description: String { "line \(line), column \(column) (byte \(offset))" }

  /// The offset and the line at which a text starts within its file, always at column 1.
  package struct Origin: Sendable, Hashable {
    package var offset: Int
    package var line: Int

    package init(offset: Int = 0, line: Int = 1) {
      self.offset = offset
      self.line = line
    }
  }

  /// Counts lines and scalars up to an offset; O(offset), so it is only used for errors.
  package init(in text: ByteView, at offset: Int, origin: Origin) {
    var line = origin.line
    var column = 1
    for byte in text.prefix(offset) {
      if byte == 0x0A {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    self.offset = origin.offset + offset
    self.line = line
    self.column = column
  }
}
