internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The statistics, lengths and postings of an index that a search reads.
final class SearchContext {
  let search: BoundSearch
  let core: TransactionCore
  let statistics: SearchStatistics
  let lengths: LengthTable
  /// The form of the postings of the index.
  let form: PostingForm
  var tree: Tree { search.index.entries.tree }
  var sourceCount: Int { form.sourceCount }

  init(_ search: BoundSearch, core: TransactionCore) throws(StoreError) {
    self.search = search
    self.core = core
    form = search.index.description.postingForm
    try core.prepareSearch()
    do {
      statistics = SearchStatistics(
        try core.transaction.get(SearchKey.statistics, in: search.index.entries.tree),
        of: search.index)
      lengths = try LengthTable(search.index.entries.tree, in: core.transaction)
    } catch {
      throw StoreError(error)
    }
  }

  func postings(of term: [UInt8]) throws -> TermPostings {
    try TermPostings(
      term, in: tree, form, name: search.index.entries.name, statistics, lengths, core.transaction)
  }

  /// The records that match the search; `nil` if it has no words.
  func node() throws -> (any SearchNode)? {
    let query = search.query
    if query.isEmpty { return nil }
    let parts = try query.required.map { group -> any SearchNode in
      let words = try group.map(wordNode)
      return words.count == 1 ? words[0] : AnyNode(words)
    }
    let excluded = try query.excluded.map(wordNode)
    let others = parts.filter { !$0.hasPrefix }
    if !others.isEmpty, others.count < parts.count {
      return TypedNode(AllNode(others, excluding: excluded), parts.filter(\.hasPrefix))
    }
    if parts.count == 1, excluded.isEmpty { return parts[0] }
    return AllNode(parts, excluding: excluded)
  }

  private func wordNode(_ word: SearchQuery.Word) throws -> any SearchNode {
    let phrases = try word.map(node)
    return phrases.count == 1 ? phrases[0] : AnyNode(phrases, takesHighest: true)
  }

  private func node(_ phrase: SearchQuery.Phrase) throws -> any SearchNode {
    guard phrase.isPrefix, let last = phrase.terms.last else {
      return try phraseNode(phrase.terms, phrase.sources)
    }
    let before =
      phrase.terms.count == 1
      ? nil
      : PhraseNode(
        try terms(phrase.terms.dropLast()), sourceCount: sourceCount, sources: phrase.sources)
    return PrefixPostings(self, last, sources: phrase.sources, after: before)
  }

  private func phraseNode(
    _ terms: [SearchQuery.Term], _ sources: Set<UInt32>?
  ) throws -> any SearchNode {
    if terms.count == 1, sources == nil { return try postings(of: terms[0].bytes) }
    return PhraseNode(try self.terms(terms[...]), sourceCount: sourceCount, sources: sources)
  }

  private func terms(
    _ terms: ArraySlice<SearchQuery.Term>
  ) throws -> [(postings: TermPostings, place: UInt32)] {
    try terms.map { (try postings(of: $0.bytes), $0.place) }
  }

  /// The estimated number of blocks of the terms that begin with `prefix`.
  func blockCount(beginningWith prefix: [UInt8]) throws -> UInt64 {
    // No term has the byte 255.
    let keys = KeyRange(lower: .included(prefix), upper: .excluded(prefix + [255]))
    return UInt64(clamping: try core.transaction.estimatedCount(of: tree, within: keys))
  }
}
