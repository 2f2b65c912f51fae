internal import LodestoreBytes
internal import LodestoreFormat

/// Evaluates a search on the texts of single records, with the same results as the index gives.
///
/// For records that another index finds, and for live results.
final class SearchEvaluation {
  private let search: BoundSearch
  private let entity: StoredEntity
  private let core: TransactionCore
  private var known: SearchContext?
  private var weights: [[UInt8]: Double] = [:]
  /// The terms of the search, which a record's terms are compared with.
  private var terms = TermTable()
  private var prefixes: [[UInt8]] = []
  private var analyzer = TextAnalyzer()

  init(_ search: BoundSearch, of entity: StoredEntity, core: TransactionCore) {
    self.search = search
    self.entity = entity
    self.core = core
    for phrase in search.query.phrases {
      for (index, term) in phrase.terms.enumerated() {
        if phrase.isPrefix, index == phrase.terms.count - 1 { prefixes.append(term.bytes) }
        _ = term.bytes._withBytes { terms.number(of: $0) }
      }
    }
  }

  /// The places of the search's terms in one record.
  private struct Found {
    var places: [[UInt8]: [(source: UInt32, position: UInt32)]] = [:]
    var length: UInt16 = 0
  }

  private func found(_ record: RecordUnderTest) throws -> Found {
    var found = Found()
    let texts = SearchTexts(
      of: search.index.description, in: record.view, entity.description)
    found.length = try texts.forEachTerm(by: &analyzer) { term, source, position in
      guard
        terms.has(term)
          || prefixes.contains(where: { prefix in
            prefix._withBytes { term.starts(with: $0) }
          })
      else { return }
      let key = Array(term)
      if let last = found.places[key]?.last, last == (source, position) { return }
      found.places[key, default: []].append((source, position))
    }
    return found
  }

  /// Returns whether the record matches the search.
  func matches(_ record: RecordUnderTest) throws -> Bool {
    if search.query.isEmpty { return false }
    let found = try found(record)
    return search.query.required.allSatisfy { group in
      group.contains { has($0, found) }
    } && !search.query.excluded.contains { has($0, found) }
  }

  private func has(_ word: SearchQuery.Word, _ found: Found) -> Bool {
    word.contains { !matches(of: $0, found).isEmpty }
  }

  /// The sequences of terms by which a phrase matches; a prefix may match by several terms.
  private func matches(of phrase: SearchQuery.Phrase, _ found: Found) -> [[[UInt8]]] {
    guard phrase.isPrefix, let last = phrase.terms.last else {
      let terms = phrase.terms.map(\.bytes)
      return matches(phrase, terms, found) ? [terms] : []
    }
    let fixed = phrase.terms.dropLast().map(\.bytes)
    return found.places.keys.filter { $0.starts(with: last.bytes) }.map { fixed + [$0] }
      .filter { matches(phrase, $0, found) }
  }

  private func matches(
    _ phrase: SearchQuery.Phrase, _ terms: [[UInt8]], _ found: Found
  ) -> Bool {
    var starts: Set<UInt64>?
    for (term, place) in zip(terms, phrase.terms.map(\.place)) {
      var next: Set<UInt64> = []
      for (source, position) in found.places[term] ?? []
      where position >= place && phrase.sources?.contains(source) ?? true {
        let start = UInt64(source) << 32 | UInt64(position - place)
        if starts?.contains(start) ?? true { next.insert(start) }
      }
      if next.isEmpty { return false }
      starts = next
    }
    return true
  }

  /// The score of the record; 0 if it does not match.
  func score(_ record: RecordUnderTest) throws -> Double {
    let context = try context()
    let found = try found(record)
    var sum = 0.0
    for group in search.query.required {
      var score = 0.0
      for word in group {
        let sequences = word.flatMap { matches(of: $0, found) }
        let scores = try sequences.map { terms in
          try terms.reduce(0.0) { try $0 + self.score(of: $1, found, context) }
        }
        score += scores.max() ?? 0
      }
      if score == 0 { return 0 }
      sum += score
    }
    return sum
  }

  private func score(
    of term: [UInt8], _ found: Found, _ context: SearchContext
  ) throws -> Double {
    let weight = try weights[term] ?? context.postings(of: term).weight
    weights[term] = weight
    let sources = search.index.description.sources
    let frequency = (found.places[term] ?? []).reduce(UInt64(0)) { sum, place in
      sum &+ UInt64(sources[Int(place.source)].weight)
    }
    return weight
      * context.statistics.score(frequency: UInt32(clamping: frequency), length: found.length)
  }

  private func context() throws(StoreError) -> SearchContext {
    if let known { return known }
    let made = try SearchContext(search, core: core)
    known = made
    return made
  }
}
