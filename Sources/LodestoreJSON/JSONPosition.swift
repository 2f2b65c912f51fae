import LodestoreBytes

/// A position in a JSON text or in the file that it is a part of.
public struct JSONPosition: Hashable, Sendable, CustomStringConvertible {
  /// The byte offset in the file, from 0.
  public let offset: Int
  /// The line, from 1; lines end with a line feed.
  public let line: Int
  /// The column, from 1, in Unicode scalars (not bytes: see `offset`).
  public let column: Int

  /// The position in words.
  public var description: String { "line \(line), column \(column) (byte \(offset))" }

  /// Where a text starts inside its file: known offset and line, always column 1.
  package struct Origin: Sendable, Hashable {
    package var offset: Int
    package var line: Int

    package init(offset: Int = 0, line: Int = 1) {
      self.offset = offset
      self.line = line
    }
  }

  /// Counts lines and scalars up to an offset; O(offset), so it is left to the error path.
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
