internal import LodestoreBytes

/// Counts the `Character`s of a text.
enum CharacterCount {
  /// Returns the number of bytes if the text is ASCII without a carriage return, since each byte is
  /// a character then; otherwise `nil`.
  static func ofASCII(_ text: ByteView) -> Int? {
    let carriageReturn: UInt8 = 0x0D
    var offset = 0
    while text.count &- offset >= 8 {
      let word = ASCIIWord.load(text, at: offset)
      let returns = ASCIIWord.zeros(word ^ ASCIIWord.ones &* UInt64(carriageReturn))
      if word & ASCIIWord.highBits | returns != 0 { return nil }
      offset &+= 8
    }
    while offset < text.count {
      if text[offset] >= 0x80 || text[offset] == carriageReturn { return nil }
      offset &+= 1
    }
    return text.count
  }
}
