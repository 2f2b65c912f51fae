import LodestoreBytes

/// The analysis of texts, which makes the terms of a text index.
///
/// The analysis is a function of the text's bytes and of tables of Unicode 17.0 that never change.
/// See Format.md, "Annex: analysis of texts".
package enum TextAnalysis {
  /// The version of the analysis, which a text index names.
  package static let version = 1
  /// The maximum number of bytes of a term.
  package static let termLimit = 120
  /// The end of a term that has been cut; no other term has it.
  package static let cutMark: [UInt8] = [0xe2, 0x80, 0xa6]

  /// The maximum number of scalars of a part, and of a word before its last part.
  static let partLimit = 512
  /// The number of parts after which a word ends.
  static let wordLimit = 32
  /// The maximum number of pieces of a part.
  static let pieceLimit = 8

  /// Calls `body` for each term of a text in UTF-8, in the order of positions.
  ///
  /// A ``TextAnalyzer`` that takes many texts saves the allocations of each call.
  ///
  /// - Parameters:
  ///   - body: A closure that takes a term and its place.
  ///   - term: The bytes of the term, which are valid during the call. A term is UTF-8 of 1 to
  ///     ``termLimit`` bytes without a zero byte. A position has no term twice.
  ///   - position: The place in the sequence of parts of words, from 0. Each position has a term.
  ///   - range: The bytes of the text that the term is made of.
  package static func forEachTerm<E: Error>(
    in text: ByteView,
    _ body: (_ term: ByteView, _ position: Int, _ range: Range<Int>) throws(E) -> Void
  ) throws(E) {
    var analyzer = TextAnalyzer()
    try analyzer.forEachTerm(in: text, body)
  }

  /// The number of bytes at the beginning of two texts that can be analyzed once for both.
  ///
  /// The terms of each text are those of this beginning, then those of the rest. The positions in
  /// the rest start at the number of positions in the beginning. A space closes each word, so the
  /// beginning ends with a space before a letter or digit of ASCII, unless the texts are equal.
  package static func sharedStart(of a: ByteView, and b: ByteView) -> Int {
    let limit = min(a.count, b.count)
    var end = 0
    while end &+ 8 <= limit, a.uint64(at: end) == b.uint64(at: end) { end &+= 8 }
    while end < limit, a[end] == b[end] { end &+= 1 }
    if end == a.count, end == b.count { return end }
    while end > 0, !isAfterSpace(a, at: end) || !isAfterSpace(b, at: end) { end &-= 1 }
    return end
  }

  /// Whether a letter or digit of ASCII is at `offset`, and a space before it.
  private static func isAfterSpace(_ text: ByteView, at offset: Int) -> Bool {
    guard offset < text.count, text[offset &- 1] == UInt8(ascii: " ") else { return false }
    switch text[offset] {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      return true
    default: return false
    }
  }

  /// The words that a person typed, in their order.
  package static func query(words text: ByteView) -> [QueryWord] {
    var analyzer = TextAnalyzer()
    return analyzer.query(words: text)
  }
}

extension TextAnalyzer {
  /// Calls `body` for each term; see ``TextAnalysis/forEachTerm(in:_:)``.
  package mutating func forEachTerm<E: Error>(
    in text: ByteView,
    _ body: (_ term: ByteView, _ position: Int, _ range: Range<Int>) throws(E) -> Void
  ) throws(E) {
    begin(text)
    while advance() {
      for term in terms where !term.isRepeated {
        try body(
          ByteView(memory).part(from: term.bytes.lowerBound, count: term.bytes.count),
          term.position, term.range)
      }
    }
  }
}
