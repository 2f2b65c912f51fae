/// The role of a scalar in a word.
///
/// See Format.md, "Annex: analysis of texts".
enum WordRole: UInt32 {
  /// The scalar separates parts of a word.
  case separator
  /// The scalar is left out.
  case ignored
  /// A mark stays with the scalar before it.
  case mark
  /// An apostrophe is left out and separates pieces of a part.
  case apostrophe
  case letter
  case digit
  /// A letter of a script without spaces between words.
  case gram
  case emoji
}

/// The case of a letter, by which parts of a word are found.
enum LetterCase: UInt32 {
  case none, capital, small
  /// The scalar is a further one of the folding of one letter.
  case continued
}

/// The properties of one scalar for the analysis, packed into one word.
struct ScalarFacts {
  var word: UInt32

  /// The scalar is folded to another scalar, which is the payload.
  static let isReplaced: UInt32 = 1 << 11
  /// The folded scalar may compose with the scalar before it.
  static let composes: UInt32 = 1 << 12
  /// The scalar is folded to several scalars, whose place is the payload.
  static let isExpanded: UInt32 = 1 << 13
  static let payloadShift: UInt32 = 14
  /// Scalars of foldings are smaller than this number, so that they fit into the payload.
  static let payloadEnd: UInt32 = 1 << 18

  init(word: UInt32) { self.word = word }

  init(
    _ wordClass: WordClass, isPictograph: Bool, role: WordRole, _ letterCase: LetterCase,
    flags: UInt32, payload: UInt32
  ) {
    word =
      wordClass.rawValue | (isPictograph ? 1 << 5 : 0) | role.rawValue << 6
      | letterCase.rawValue << 9 | flags | payload << Self.payloadShift
  }

  @inline(__always)
  var wordClass: WordClass { WordClass(rawValue: word & 0x1f) ?? .other }

  @inline(__always)
  var isPictograph: Bool { word & 1 << 5 != 0 }

  @inline(__always)
  var role: WordRole { WordRole(rawValue: word &>> 6 & 7) ?? .separator }

  @inline(__always)
  var letterCase: LetterCase { LetterCase(rawValue: word &>> 9 & 3) ?? .none }

  @inline(__always)
  func has(_ mask: UInt32) -> Bool { word & mask != 0 }

  @inline(__always)
  var payload: UInt32 { word &>> Self.payloadShift }
}
