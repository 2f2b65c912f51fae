/// The number of terminal columns of a character.
enum CharacterWidth {
  /// Returns the number of columns of a character: 0, 1 or 2, whatever the number of its scalars.
  static func columns(of character: Character) -> Int {
    var widest = 0
    for scalar in character.unicodeScalars {
      if scalar.value == emojiVariationSelector { return 2 }
      widest = max(widest, columns(of: scalar))
    }
    return widest
  }

  private static let emojiVariationSelector: UInt32 = 0xFE0F

  private static func columns(of scalar: Unicode.Scalar) -> Int {
    let value = scalar.value
    if value < 0x300 { return 1 }
    // Vowels and final consonants of Hangul join the syllable before them.
    if (0x1160...0x11FF).contains(value) || (0xD7B0...0xD7FF).contains(value) { return 0 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: break
    }
    if scalar.properties.isEmojiPresentation || wideRanges.contains(where: { $0.contains(value) }) {
      return 2
    }
    return 1
  }

  /// The ranges that Unicode's East Asian Width calls wide or fullwidth, except emoji.
  ///
  /// Unassigned code points between two ranges of one script count as wide too,
  /// because later versions of Unicode assign them so.
  private static let wideRanges: [ClosedRange<UInt32>] = [
    0x1100...0x115F, 0x2329...0x232A, 0x2630...0x2637, 0x268A...0x268F, 0x2E80...0x303E,
    0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4C6, 0xA960...0xA97C, 0xAC00...0xD7A3,
    0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
    0x16FE0...0x18D08, 0x1AFF0...0x1B2FB, 0x1D300...0x1D376, 0x1F200...0x1F265,
    0x20000...0x3FFFD,
  ]
}
