internal import LodestoreBytes
internal import LodestoreFormat

/// Marks the words of a search in texts.
///
///     let highlighter = SearchHighlighter("json parser")
///     for range in highlighter.ranges(in: pod.summary) { … }
///
/// The words are found by the analysis of search indexes, so that exactly those places are marked
/// which a search finds. See <doc:Search>.
public struct SearchHighlighter: Sendable {
  private let phrases: [SearchQuery.Phrase]

  /// - Parameters:
  ///   - text: the text of the search, as for ``Condition/search(_:_:in:)``. Attributes named in it
  ///     do not matter.
  ///   - mode: the mode of the search.
  public init(_ text: String, _ mode: SearchMode = .allWords) {
    let query = SearchQuery(text, mode.comparison.searchMode ?? .all, names: nil)
    phrases = query.required.joined().flatMap { $0 }
  }

  /// The places of the search's words in `text`, ascending and disjoint.
  ///
  /// Each range has whole characters. Of a phrase, each word has a range of its own. The time is
  /// linear in the length of the text.
  public func ranges(in text: String) -> [Range<String.Index>] {
    var words: [(term: [UInt8], position: Int, range: Range<Int>)] = []
    var text = text
    text.withUTF8 { bytes in
      TextAnalysis.forEachTerm(in: ByteView(bytes)) { term, position, range in
        words.append((Array(term), position, range))
      }
    }
    var marked: [Range<Int>] = []
    var places: [Int: [Int]] = [:]
    for (index, word) in words.enumerated() { places[word.position, default: []].append(index) }
    for phrase in phrases {
      guard let first = phrase.terms.first else { continue }
      for start in words where phrase.isMatch(start.term, at: 0) {
        var ranges: [Range<Int>] = []
        for (index, term) in phrase.terms.enumerated() {
          let position = start.position + Int(term.place) - Int(first.place)
          let found = places[position]?.first { phrase.isMatch(words[$0].term, at: index) }
          if let found { ranges.append(words[found].range) }
        }
        if ranges.count == phrase.terms.count { marked += ranges }
      }
    }
    return Self.characters(of: text, at: marked)
  }

  /// Joins overlapping ranges of bytes, and widens them to whole characters.
  private static func characters(
    of text: String, at marked: [Range<Int>]
  ) -> [Range<String.Index>] {
    var result: [Range<String.Index>] = []
    for range in marked.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      let utf8 = text.utf8
      let lower = text.character(at: utf8.index(utf8.startIndex, offsetBy: range.lowerBound))
      let end = utf8.index(utf8.startIndex, offsetBy: range.upperBound)
      let last = text.character(at: end)
      let upper = last < end ? text.index(after: last) : end
      if let before = result.last, before.upperBound >= lower {
        result[result.count - 1] = before.lowerBound..<max(before.upperBound, upper)
      } else {
        result.append(lower..<upper)
      }
    }
    return result
  }

  /// A part of a text with places that are marked.
  public struct Snippet: Sendable {
    /// The part.
    public let text: Substring
    /// The places of the search's words in ``text``.
    public let ranges: [Range<String.Index>]
  }

  /// Returns the part of `text` with the most words of the search.
  ///
  /// - Parameter length: the maximum number of characters. The part begins and ends between words
  ///   if there are spaces.
  public func snippet(of text: String, length: Int = 160) -> Snippet {
    let ranges = ranges(in: text)
    let length = max(1, length)
    var best = text.startIndex
    var most = 0
    for (index, range) in ranges.enumerated() {
      let end = text.index(range.lowerBound, offsetBy: length, limitedBy: text.endIndex)
      let count = ranges[index...].prefix { $0.upperBound <= end ?? text.endIndex }.count
      if count > most { (best, most) = (range.lowerBound, count) }
    }
    // Some characters before the first word show its context.
    var start =
      text.index(best, offsetBy: -(length / 4), limitedBy: text.startIndex)
      ?? text.startIndex
    if start > text.startIndex, let space = text[start..<best].firstIndex(where: \.isWhitespace) {
      start = text.index(after: space)
    }
    var end = text.index(start, offsetBy: length, limitedBy: text.endIndex) ?? text.endIndex
    if end < text.endIndex, let space = text[start..<end].lastIndex(where: \.isWhitespace),
      space > best
    {
      end = space
    }
    let part = text[start..<end]
    return Snippet(
      text: part, ranges: ranges.filter { $0.lowerBound >= start && $0.upperBound <= end })
  }
}

extension String {
  /// The beginning of the character at `index`, which may be within it.
  fileprivate func character(at index: Index) -> Index {
    index == endIndex ? index : self.index(before: self.index(after: index))
  }
}

extension SearchQuery.Phrase {
  /// Whether `term` is the one at `index` of the phrase.
  func isMatch(_ term: [UInt8], at index: Int) -> Bool {
    let wanted = terms[index].bytes
    return isPrefix && index == terms.count - 1 ? term.starts(with: wanted) : term == wanted
  }
}
