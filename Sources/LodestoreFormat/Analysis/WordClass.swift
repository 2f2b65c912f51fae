/// The values of the property Word_Break, in the order of the numbers in ``WordData``.
enum WordClass: UInt32 {
  case other, carriageReturn, lineFeed, newline, extend, joiner, format, regionalIndicator, katakana
  case hebrewLetter, letter, singleQuote, doubleQuote, midNumLet, midLetter, midNum, numeric
  case extendNumLet, space

  /// Whether rule WB4 attaches a scalar of this class to the scalar before it.
  @inline(__always)
  var isAttached: Bool { self == .extend || self == .format || self == .joiner }

  /// Whether rules WB3a and WB3b separate a scalar of this class from all others.
  @inline(__always)
  var isLineEnd: Bool { self == .carriageReturn || self == .lineFeed || self == .newline }

  /// The class that the annex calls AHLetter.
  @inline(__always)
  var isLetter: Bool { self == .letter || self == .hebrewLetter }

  /// The class that the annex calls MidNumLetQ.
  @inline(__always)
  var isMidNumLetQ: Bool { self == .midNumLet || self == .singleQuote }
}
