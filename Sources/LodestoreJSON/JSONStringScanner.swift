import LodestoreBytes

/// Finds the end of a JSON string and validates its content.
///
/// Eight zero bytes must follow the text. A zero is a control character, so it ends every scan and
/// saves a bounds check in each step.
struct JSONStringScanner {
  let text: ByteView
  let count: Int

  /// Scans from the byte after the opening quote and returns the offset of the closing quote and
  /// the flags of the tape entry.
  @inline(__always)
  func scan(from start: Int) throws(JSONFault) -> (end: Int, flags: UInt32) {
    var at = start
    while true {
      // The scan reads 64-bit words. In the result, the lowest set bit is right. Higher bits may be
      // set wrongly, because the subtraction borrows from higher bytes. Most strings end in the
      // first or second word.
      let word = UInt64(littleEndian: text.loadUnaligned(fromByteOffset: at, as: UInt64.self))
      let special = Self.special(word)
      if special == 0 {
        at &+= 8
        continue
      }
      at &+= special.trailingZeroBitCount >> 3
      if text[at] == 0x22 { return (at, 0) }
      return try scanIrregular(from: at)
    }
  }

  /// Sets the top bit of each byte that is a quote, a backslash, a control character or at least
  /// 0x80, and clears all other bits.
  @inline(__always)
  private static func special(_ word: UInt64) -> UInt64 {
    (escapeBits(word) | word) & 0x8080_8080_8080_8080
  }

  /// Sets the top bit of each byte that is a quote, a backslash or a control character.
  ///
  /// The result has a meaning only at the top bits of bytes below 0x80.
  @inline(__always)
  static func escapeBits(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let control = (word &- ones &* 0x20) & ~word
    let quote = word ^ (ones &* 0x22)
    let slash = word ^ (ones &* 0x5C)
    let equal = ((quote &- ones) & ~quote) | ((slash &- ones) & ~slash)
    return control | equal
  }

  @inline(never)
  private func scanIrregular(from start: Int) throws(JSONFault) -> (end: Int, flags: UInt32) {
    var at = start
    var flags: UInt32 = 0
    while true {
      let byte = text[at]
      if byte == 0x22 { return (at, flags) }
      if byte == 0x5C {
        flags |= JSONTapeEntry.escapedFlag
        at = try escape(at)
      } else if byte >= 0x80 {
        flags |= JSONTapeEntry.wideFlag
        at = try scalar(at)
      } else if byte < 0x20 {
        throw at == count ? Self.cutOff(at) : Self.control(byte, at)
      } else {
        let word = UInt64(littleEndian: text.loadUnaligned(fromByteOffset: at, as: UInt64.self))
        let special = Self.special(word)
        at &+= special == 0 ? 8 : special.trailingZeroBitCount >> 3
      }
    }
  }

  private func escape(_ at: Int) throws(JSONFault) -> Int {
    switch text[at + 1] {
    case 0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74: return at + 2
    case 0x75:
      let first = try hex(at)
      switch first {
      case 0xD800...0xDBFF:
        guard text[at + 6] == 0x5C, text[at + 7] == 0x75 else { throw Self.unpaired(at) }
        guard case 0xDC00...0xDFFF = try hex(at + 6) else { throw Self.unpaired(at) }
        return at + 12
      case 0xDC00...0xDFFF: throw Self.unpaired(at)
      default: return at + 6
      }
    default:
      if at + 1 == count { throw Self.cutOff(at + 1) }
      throw JSONFault(
        .invalidEscape, at: at, expected: #"one of \" \\ \/ \b \f \n \r \t \uXXXX"#)
    }
  }

  /// Reads the four digits of the escape at an offset.
  ///
  /// A zero byte after the text ends the reading.
  private func hex(_ at: Int) throws(JSONFault) -> UInt32 {
    var value: UInt32 = 0
    for index in (at + 2)..<(at + 6) {
      guard let digit = JSONHex.digit(text[index]) else {
        if index >= count { throw Self.cutOff(count) }
        throw JSONFault(.invalidEscape, at: at, expected: #"four hexadecimal digits after \u"#)
      }
      value = value << 4 | digit
    }
    return value
  }

  /// Checks one multi-byte scalar by the Unicode Standard's table of well-formed sequences.
  @inline(__always)
  private func scalar(_ at: Int) throws(JSONFault) -> Int {
    let first = text[at]
    let second = text[at + 1]
    switch first {
    case 0xC2...0xDF:
      if second & 0xC0 == 0x80 { return at &+ 2 }
    case 0xE0...0xEF:
      let low: UInt8 = first == 0xE0 ? 0xA0 : 0x80
      let high: UInt8 = first == 0xED ? 0x9F : 0xBF
      // Reading the third byte is safe: the second byte is not zero, so it is in the text, and
      // padding follows the text.
      if second >= low && second <= high && text[at + 2] & 0xC0 == 0x80 { return at &+ 3 }
    case 0xF0...0xF4:
      let low: UInt8 = first == 0xF0 ? 0x90 : 0x80
      let high: UInt8 = first == 0xF4 ? 0x8F : 0xBF
      if second >= low && second <= high && text[at + 2] & 0xC0 == 0x80
        && text[at + 3] & 0xC0 == 0x80
      {
        return at &+ 4
      }
    default: break
    }
    throw JSONFault(.invalidUTF8, at: at, expected: "well-formed UTF-8")
  }

  private static func cutOff(_ at: Int) -> JSONFault {
    JSONFault(.unexpectedEnd, at: at, expected: "the closing quote of a string")
  }

  private static func control(_ byte: UInt8, _ at: Int) -> JSONFault {
    JSONFault(.controlCharacter(byte), at: at, expected: #"an escape such as \n or \u0000"#)
  }

  private static func unpaired(_ at: Int) -> JSONFault {
    JSONFault(
      .unpairedSurrogate, at: at, expected: #"a pair such as \uD83D\uDE00 or another character"#)
  }
}

enum JSONHex {
  @inline(__always)
  static func digit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case 0x30...0x39: UInt32(byte &- 0x30)
    case 0x41...0x46: UInt32(byte &- 0x37)
    case 0x61...0x66: UInt32(byte &- 0x57)
    default: nil
    }
  }
}
