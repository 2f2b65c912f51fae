internal import LodestoreFormat

/// A term of a search index.
package struct SearchTerm: Sendable, Equatable {
  package let text: String
  /// The number of records whose texts have the term, including expired ones.
  package let recordCount: UInt64
}

extension DynamicSnapshot {
  /// The first terms of a search index in the order of their bytes.
  ///
  /// - Parameters:
  ///   - start: the beginning of a word, in any case. The terms are from here on.
  ///   - last: a term after which the terms begin, if it is after `start`.
  ///   - most: the maximum number of terms.
  /// - Complexity: O(`most` · log *n*) for *n* entries.
  package func searchTerms(
    of index: DynamicIndex, from start: String = "", after last: String? = nil, most: Int
  ) throws -> [SearchTerm] {
    var key = Array(QueryWord.prefix(TransactionCore.term(of: start)))
    // The keys of statistics are before the terms, and begin with a zero.
    if key.isEmpty { key = [1] }
    if let last {
      let end = Array(last.utf8) + [0, SearchKey.lastBlock, 0]
      if key.lexicographicallyPrecedes(end) { key = end }
    }
    var terms: [SearchTerm] = []
    guard most > 0 else { return terms }
    try core.forEachTerm(of: index.stored, from: key) { term, count in
      terms.append(SearchTerm(text: term, recordCount: count))
      return terms.count < most
    }
    return terms
  }

  /// The words that ``ReadableTransaction/searchSuggestions(for:in:limit:)`` returns; if `control`
  /// ends the search, the ones found so far.
  package func searchSuggestions(
    for word: String, in entity: DynamicEntity, limit: Int = 5, control: RunControl = RunControl()
  ) throws -> [String] {
    try core.suggestions(for: word, in: entity.stored, limit: limit, control: control)
  }
}
