/// The ASCII character that quotes fields, escapes characters or begins comments in separated
/// values.
///
///     options.quote = nil                   // quotes are ordinary characters
///     options.escape = .backslash
///     options.comment = CSVCharacter("#")
public struct CSVCharacter: Sendable, Hashable {
  let byte: UInt8

  /// The quotation mark, `"`.
  public static let doubleQuote = CSVCharacter(byte: 0x22)
  /// The apostrophe, `'`.
  public static let singleQuote = CSVCharacter(byte: 0x27)
  /// The backslash, `\`.
  public static let backslash = CSVCharacter(byte: 0x5C)
  /// The number sign, `#`.
  public static let numberSign = CSVCharacter(byte: 0x23)

  /// Creates another character; `nil` for a line end, a zero byte and a character beyond ASCII.
  public init?(_ character: Character) {
    // Swift treats CR LF as one character with an ASCII value, so the number of scalars is checked
    // too.
    guard character.unicodeScalars.count == 1, let byte = character.asciiValue,
      byte != 0x0A, byte != 0x0D, byte != 0
    else { return nil }
    self.init(byte: byte)
  }

  init(byte: UInt8) { self.byte = byte }
}
