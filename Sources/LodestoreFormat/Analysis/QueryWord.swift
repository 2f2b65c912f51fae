import LodestoreBytes

/// A word of a query, as terms to look up.
///
/// A text has the word if it has ``terms`` at consecutive positions, or ``whole`` anywhere.
///
/// The words of a phrase have positions from the query. A text has the phrase if, from some
/// position *p* on, it has the terms of each word from *p* + ``position`` on. For the last word of
/// the phrase, ``whole`` at *p* + ``position`` is enough.
package struct QueryWord: Equatable, Sendable {
  /// The terms that a text has at consecutive positions; never empty.
  ///
  /// The terms are the parts of the word. In a script without spaces they are the pairs of
  /// neighbours, or the only character.
  package var terms: [[UInt8]]
  /// The term of the whole word, if the word has several parts.
  package var whole: [UInt8]?
  /// The position of the first term in the query.
  package var position: Int
  /// The bytes of the query that the word is made of.
  package var range: Range<Int>
  /// Whether the word is of a script without spaces.
  package var isRun: Bool

  /// The bytes with which a term begins, if a person has typed the beginning of a word.
  ///
  /// This prefix takes the place of the last one of ``terms`` and of ``whole``. The prefix is the
  /// part of `term` that is kept when a longer term is cut.
  package static func prefix(_ term: [UInt8]) -> ArraySlice<UInt8> {
    let limit = TextAnalysis.termLimit - TextAnalysis.cutMark.count
    guard term.count > limit else { return term[...] }
    var end = limit
    while term[end] & 0xc0 == 0x80 { end -= 1 }
    return term[..<end]
  }
}

extension TextAnalyzer {
  /// The words of a query; see ``TextAnalysis/query(words:)``.
  package mutating func query(words text: ByteView) -> [QueryWord] {
    var words: [QueryWord] = []
    var word = -1
    begin(text)
    while advance() {
      for term in terms where term.role != .inner {
        let bytes = Array(
          ByteView(memory).part(from: term.bytes.lowerBound, count: term.bytes.count))
        if term.word == word {
          Self.add(bytes, term, to: &words[words.count - 1])
          continue
        }
        word = term.word
        let isWhole = term.role == .whole
        words.append(
          QueryWord(
            terms: isWhole ? [] : [bytes], whole: isWhole ? bytes : nil, position: term.position,
            range: term.range, isRun: term.role == .single))
      }
    }
    return words
  }

  /// Adds a further part to a word, or a further character to a run.
  private static func add(_ bytes: [UInt8], _ term: Term, to word: inout QueryWord) {
    word.range = word.range.lowerBound..<max(word.range.upperBound, term.range.upperBound)
    switch term.role {
    case .part: word.terms.append(bytes)
    case .pair:
      // The first character was added alone, because it may be the only one.
      if term.position == word.position { word.terms.removeAll() }
      word.terms.append(bytes)
    case .whole, .inner, .single: break
    }
  }
}
