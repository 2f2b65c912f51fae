internal import LodestoreBytes
internal import LodestoreFormat

/// The words that a search looks for.
///
/// People type the text, so that no text is an error: what has no meaning is read as words.
///
/// - `new hope`: both words; with ``Mode/any``, one of them.
/// - `"new hope"`: the words as neighbours.
/// - `-hope`: not this word, or with quotes not this phrase.
/// - `title:hope`: the word in this attribute of the index.
/// - `hop*`: words that begin so.
/// - `new OR hope`: one of the two.
struct SearchQuery: Sendable, Hashable {
  enum Mode: Sendable, Hashable {
    case all, any
    /// All words, the last one as a prefix unless a space follows it.
    case prefix
  }

  /// Terms at given distances; with one term, a word.
  struct Phrase: Sendable, Hashable {
    var terms: [Term]
    /// Whether the last term is the beginning of a term.
    var isPrefix = false
    /// The numbers of the sources in which the phrase is sought; `nil` for all.
    var sources: Set<UInt32>?
  }

  struct Term: Sendable, Hashable {
    var bytes: [UInt8]
    /// The place within the phrase.
    var place: UInt32
  }

  /// A word or a phrase as it was typed: sequences of terms, one of which must match.
  ///
  /// A word of several parts is found by its parts as neighbours, and as a whole.
  typealias Word = [Phrase]

  /// Groups of which each must have a word that matches.
  private(set) var required: [[Word]] = []
  private(set) var excluded: [Word] = []

  /// The phrases of all words.
  var phrases: [Phrase] { (required.flatMap { $0 } + excluded).flatMap { $0 } }

  /// Whether no word is sought, so that nothing is found.
  var isEmpty: Bool { required.isEmpty }

  /// - Parameters:
  ///   - names: the names of the sources, as `title` or `authors.name`; `nil` if any name stands for
  ///     all sources.
  ///   - scope: the number of the source in which all words are sought; `nil` for all sources.
  init(_ text: String, _ mode: Mode, names: [String]?, scope: Set<UInt32>? = nil) {
    var isAlternative = false
    let words = Self.words(of: text)
    for (number, var word) in words.enumerated() {
      if word.text == "OR", !word.isQuoted, !required.isEmpty, number + 1 < words.count {
        isAlternative = true
        continue
      }
      var sources = scope
      if !word.isQuoted || word.name != nil, let name = word.name {
        if let names {
          let found = names.indices.filter { names[$0] == name }.map { UInt32($0) }
          if found.isEmpty {
            word.text = "\(name):\(word.text)"
          } else {
            sources = Set(found)
          }
        }
      }
      let isLast = number == words.count - 1 && mode == .prefix && !word.isQuoted
      let isOpen = isLast && text.last?.isWhitespace == false
      let found = Phrase.alternatives(word.text, isPrefix: word.isPrefix || isOpen, sources)
      if found.isEmpty {
        isAlternative = false
        continue
      }
      if word.isExcluded {
        excluded.append(found)
      } else if isAlternative || (mode == .any && !required.isEmpty) {
        required[required.count - 1].append(found)
      } else {
        required.append([found])
      }
      isAlternative = false
    }
  }

  private struct TypedWord {
    var text = ""
    var name: String?
    var isQuoted = false
    var isExcluded = false
    var isPrefix = false
  }

  /// Splits a text at spaces outside quotes.
  private static func words(of text: String) -> [TypedWord] {
    let quotes: Set<Character> = ["\"", "\u{201C}", "\u{201D}", "\u{201E}", "\u{AB}", "\u{BB}"]
    var words: [TypedWord] = []
    var rest = text[...]
    while true {
      rest = rest.drop(while: \.isWhitespace)
      guard let first = rest.first else { return words }
      var word = TypedWord()
      if first == "-", let next = rest.dropFirst().first, !next.isWhitespace {
        word.isExcluded = true
        rest.removeFirst()
      }
      let start = rest.prefix { !$0.isWhitespace && !quotes.contains($0) }
      if let colon = start.firstIndex(of: ":"), colon > start.startIndex {
        word.name = String(start[..<colon])
        rest = rest[start.index(after: colon)...]
      }
      if let quote = rest.first, quotes.contains(quote) {
        word.isQuoted = true
        rest.removeFirst()
        // A quote that is never closed reaches to the end.
        let inside = rest.prefix { !quotes.contains($0) }
        word.text = String(inside)
        rest = rest[inside.endIndex...].dropFirst()
      } else {
        let plain = rest.prefix { !$0.isWhitespace && !quotes.contains($0) }
        word.text = String(plain)
        rest = rest[plain.endIndex...]
      }
      if !word.isQuoted, word.text.last == "*" {
        word.isPrefix = true
        word.text.removeLast()
      }
      words.append(word)
    }
  }
}

extension SearchQuery.Phrase {
  /// The sequences of terms by which a typed word or phrase is found; empty if it has no word.
  fileprivate static func alternatives(
    _ text: String, isPrefix: Bool, _ sources: Set<UInt32>?
  ) -> [SearchQuery.Phrase] {
    let words = Array(text.utf8)._withBytes { TextAnalysis.query(words: $0) }
    guard let last = words.last else { return [] }
    var before: [SearchQuery.Term] = []
    for word in words.dropLast() { before += terms(word.terms, at: word.position) }
    var found = [before + terms(last.terms, at: last.position)]
    if let whole = last.whole { found.append(before + terms([whole], at: last.position)) }
    return found.map { terms in
      var terms = terms
      if isPrefix, let end = terms.indices.last {
        terms[end].bytes = Array(QueryWord.prefix(terms[end].bytes))
      }
      return SearchQuery.Phrase(terms: terms, isPrefix: isPrefix, sources: sources)
    }
  }

  private static func terms(_ terms: [[UInt8]], at position: Int) -> [SearchQuery.Term] {
    terms.enumerated().map { .init(bytes: $1, place: UInt32(clamping: position + $0)) }
  }
}
