/// Hangul syllables, which are composed and decomposed by arithmetic.
///
/// See The Unicode Standard, section 3.12.
enum Hangul {
  static let syllables: Range<UInt32> = 0xac00..<0xd7a4
  static let initials: Range<UInt32> = 0x1100..<0x1113
  static let vowels: Range<UInt32> = 0x1161..<0x1176
  static let finals: Range<UInt32> = 0x11a8..<0x11c3

  private static let vowelCount: UInt32 = 21
  /// The number of final letters, counting the case without a final letter.
  private static let finalCount: UInt32 = 28

  /// The letters of a syllable.
  ///
  /// The third element is 0 if the decomposition has only two.
  static func letters(_ syllable: UInt32) -> (UInt32, UInt32, UInt32) {
    let index = syllable &- syllables.lowerBound
    let final = index % finalCount
    return (
      initials.lowerBound &+ index / (vowelCount &* finalCount),
      vowels.lowerBound &+ index / finalCount % vowelCount,
      final == 0 ? 0 : finals.lowerBound &- 1 &+ final
    )
  }

  static func composite(_ first: UInt32, _ second: UInt32) -> UInt32? {
    if initials.contains(first), vowels.contains(second) {
      let pair = (first &- initials.lowerBound) &* vowelCount &+ (second &- vowels.lowerBound)
      return syllables.lowerBound &+ pair &* finalCount
    }
    if syllables.contains(first), (first &- syllables.lowerBound) % finalCount == 0,
      finals.contains(second)
    {
      return first &+ (second &- finals.lowerBound &+ 1)
    }
    return nil
  }
}
