internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The statistics, lengths and postings of an index that a search reads.
final class SearchContext {
  let search: BoundSearch
  let core: TransactionCore
  let statistics: SearchStatistics
  let lengths: LengthTable
  private var tree: Tree { search.index.entries.tree }
  private var sourceCount: Int { search.index.description.sources.count }

  init(_ search: BoundSearch, core: TransactionCore) throws(StoreError) {
    self.search = search
    self.core = core
    try core.prepareSearch()
    do {
      statistics = SearchStatistics(
        try core.transaction.get(SearchKey.statistics, in: search.index.entries.tree))
      lengths = try LengthTable(search.index.entries.tree, in: core.transaction)
    } catch {
      throw StoreError(error)
    }
  }

  func postings(of term: [UInt8]) throws -> TermPostings {
    try TermPostings(
      term, in: tree, name: search.index.entries.name, statistics, lengths, core.transaction)
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
    let alternatives = try terms(beginningWith: last.bytes)
    if phrase.terms.count == 1, phrase.sources == nil {
      return try MergedPostings(alternatives.map(postings))
    }
    let phrases = try alternatives.map { term in
      try phraseNode(
        phrase.terms.dropLast() + [.init(bytes: term, place: last.place)], phrase.sources)
    }
    return AnyNode(phrases, takesHighest: true)
  }

  private func phraseNode(
    _ terms: [SearchQuery.Term], _ sources: Set<UInt32>?
  ) throws -> any SearchNode {
    let all = try terms.map { (try postings(of: $0.bytes), $0.place) }
    if all.count == 1, sources == nil { return all[0].0 }
    return PhraseNode(all, sourceCount: sourceCount, sources: sources)
  }

  /// The terms of the index that begin with `prefix`, in the order of their bytes.
  func terms(beginningWith prefix: [UInt8]) throws -> [[UInt8]] {
    let cursor = try Cursor(tree, in: core.transaction)
    var terms: [[UInt8]] = []
    var key = prefix
    var isFound = try cursor.seek(atOrAfter: prefix)
    while isFound, let (term, _) = SearchKey.block(cursor.key),
      prefix._withBytes({ term.starts(with: $0) })
    {
      terms.append(Array(term))
      // The last block of the term is the one before the next term.
      SearchKey.setBlock(of: term, endingWith: nil, in: &key)
      isFound = try key._withBytes { try cursor.seek(atOrAfter: $0) } && cursor.next()
    }
    return terms
  }
}
