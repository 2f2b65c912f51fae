internal import LodestoreBytes

/// How many `Character`s a text has.
enum CharacterCount {
  /// Of UTF-8 that is all ASCII and has no carriage return one for each byte; `nil` for other text.
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
