import LodestoreBytes
import LodestoreFormat

/// The terms of a text with their positions, and the search for words as a query has them.
///
/// The search follows the documentation of ``QueryWord``, without an index.
struct AnalyzedText {
  struct Term: Equatable {
    var text: String
    var position: Int
    var range: Range<Int>
  }

  let terms: [Term]
  private let positions: [ArraySlice<UInt8>: Set<Int>]

  init(_ text: String) { self.init(utf8: Array(text.utf8)) }

  init(utf8: [UInt8]) {
    var terms: [Term] = []
    var positions: [ArraySlice<UInt8>: Set<Int>] = [:]
    utf8._withBytes { text in
      TextAnalysis.forEachTerm(in: text) { term, position, range in
        terms.append(
          Term(text: String(decoding: term, as: UTF8.self), position: position, range: range))
        positions[Array(term)[...], default: []].insert(position)
      }
    }
    self.terms = terms
    self.positions = positions
  }

  /// The terms in the order of positions, those of one position separated by a vertical line.
  var summary: String {
    var parts: [String] = []
    for (index, term) in terms.enumerated() {
      if index > 0, terms[index - 1].position == term.position {
        parts[parts.count - 1] += "|" + term.text
      } else {
        parts.append(term.text)
      }
    }
    return parts.joined(separator: " ")
  }

  static func query(_ text: some StringProtocol) -> [QueryWord] {
    Array(text.utf8)._withBytes { TextAnalysis.query(words: $0) }
  }

  private func places(of term: [UInt8], asPrefix: Bool) -> Set<Int> {
    guard asPrefix else { return positions[term[...]] ?? [] }
    let prefix = QueryWord.prefix(term)
    var places: Set<Int> = []
    for (term, found) in positions where term.starts(with: prefix) { places.formUnion(found) }
    return places
  }

  /// The places of the first term of a word whose terms are at consecutive positions.
  private func places(of word: QueryWord, asPrefix: Bool) -> Set<Int> {
    var places: Set<Int>?
    for (index, term) in word.terms.enumerated() {
      let isLast = index == word.terms.count - 1
      let found = self.places(of: term, asPrefix: asPrefix && isLast)
      let starts = Set(found.map { $0 - index })
      places = places?.intersection(starts) ?? starts
    }
    return places ?? []
  }

  private func places(ofWhole word: QueryWord, asPrefix: Bool) -> Set<Int> {
    word.whole.map { places(of: $0, asPrefix: asPrefix) } ?? []
  }

  /// Whether the text has all words of the query; the last one may be the beginning of a word.
  func hasAll(_ query: [QueryWord], lastIsPrefix: Bool = false) -> Bool {
    query.enumerated().allSatisfy { index, word in
      let asPrefix = lastIsPrefix && index == query.count - 1
      return !places(of: word, asPrefix: asPrefix).isEmpty
        || !places(ofWhole: word, asPrefix: asPrefix).isEmpty
    }
  }

  /// Whether the text has the words of the query one after the other.
  func hasPhrase(_ query: [QueryWord], lastIsPrefix: Bool = false) -> Bool {
    var places: Set<Int>?
    for (index, word) in query.enumerated() {
      let isLast = index == query.count - 1
      var found = self.places(of: word, asPrefix: lastIsPrefix && isLast)
      if isLast { found.formUnion(self.places(ofWhole: word, asPrefix: lastIsPrefix)) }
      let starts = Set(found.map { $0 - word.position })
      places = places?.intersection(starts) ?? starts
    }
    return places?.isEmpty == false
  }
}
