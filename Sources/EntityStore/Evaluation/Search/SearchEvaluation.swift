internal import LodestoreBytes
internal import LodestoreFormat

/// Evaluates a search on the texts of single records, with the same results as the index gives.
///
/// For records that another index finds, and for live results.
final class SearchEvaluation {
  private let search: BoundSearch
  private let entity: StoredEntity
  private let core: TransactionCore
  private let required: [[[Phrase]]]
  private let excluded: [[Phrase]]
  private var known: SearchContext?
  private var analyzer = TextAnalyzer()
  private var found = FoundTerms()

  /// A phrase of the search, with its terms by their numbers.
  private struct Phrase {
    var terms: [(number: UInt32, place: UInt32)]
    /// The beginning of the last term, which ``terms`` does not have, and its place.
    var prefix: (bytes: [UInt8], place: UInt32)?
    var sources: Set<UInt32>?
  }

  init(_ search: BoundSearch, of entity: StoredEntity, core: TransactionCore) {
    self.search = search
    self.entity = entity
    self.core = core
    func phrases(_ word: SearchQuery.Word, _ found: inout FoundTerms) -> [Phrase] {
      word.map { phrase in
        let terms = phrase.isPrefix ? phrase.terms.dropLast() : phrase.terms[...]
        let last = phrase.isPrefix ? phrase.terms.last : nil
        if let last { found.look(forPrefix: last.bytes) }
        return Phrase(
          terms: terms.map { (found.look(for: $0.bytes), $0.place) },
          prefix: last.map { ($0.bytes, $0.place) }, sources: phrase.sources)
      }
    }
    var found = FoundTerms()
    required = search.query.required.map { $0.map { phrases($0, &found) } }
    excluded = search.query.excluded.map { phrases($0, &found) }
    self.found = found
  }

  private func read(_ record: RecordUnderTest) throws {
    found.removePlaces()
    let texts = SearchTexts(
      of: search.index.description, in: record.view, entity.description)
    let length = try texts.forEachTerm(by: &analyzer) { term, source, position in
      found.note(term, source, position)
    }
    found.length = length
  }

  /// Returns whether the record matches the search.
  func matches(_ record: RecordUnderTest) throws -> Bool {
    if search.query.isEmpty { return false }
    try read(record)
    return required.allSatisfy { group in group.contains { $0.contains(where: isFound) } }
      && !excluded.contains { $0.contains(where: isFound) }
  }

  private func isFound(_ phrase: Phrase) -> Bool {
    guard let prefix = phrase.prefix else { return isFound(phrase, last: nil) }
    return found.numbers(beginningWith: prefix.bytes).contains { isFound(phrase, last: $0) }
  }

  /// Whether the terms of a phrase stand side by side, with `last` in the place of its prefix.
  private func isFound(_ phrase: Phrase, last: UInt32?) -> Bool {
    if phrase.sources == nil, phrase.terms.count + (last == nil ? 0 : 1) == 1 {
      return last != nil || !found.places(of: phrase.terms[0].number).isEmpty
    }
    var starts: Set<UInt64>?
    func narrow(_ number: UInt32, _ place: UInt32) -> Bool {
      var next: Set<UInt64> = []
      for (source, position) in found.places(of: number)
      where position >= place && phrase.sources?.contains(source) ?? true {
        let start = UInt64(source) << 32 | UInt64(position - place)
        if starts?.contains(start) ?? true { next.insert(start) }
      }
      starts = next
      return !next.isEmpty
    }
    guard phrase.terms.allSatisfy({ narrow($0.number, $0.place) }) else { return false }
    guard let last, let prefix = phrase.prefix else { return true }
    return narrow(last, prefix.place)
  }

  /// The score of the record; 0 if it does not match.
  func score(_ record: RecordUnderTest) throws -> Double {
    let context = try context()
    try read(record)
    var sum = 0.0
    for group in required {
      var score = 0.0
      for word in group {
        score += try word.map { try self.score($0, context) }.max() ?? 0
      }
      if score == 0 { return 0 }
      sum += score
    }
    return sum
  }

  private func score(_ phrase: Phrase, _ context: SearchContext) throws -> Double {
    let last: [UInt32?] =
      phrase.prefix.map { found.numbers(beginningWith: $0.bytes) } ?? [nil]
    return try last.filter { isFound(phrase, last: $0) }.map { last in
      try (phrase.terms.map(\.number) + [last].compactMap { $0 }).reduce(0.0) {
        try $0 + score(of: $1, context)
      }
    }.max() ?? 0
  }

  private func score(of number: UInt32, _ context: SearchContext) throws -> Double {
    let weight = try found.weight(of: number) { try context.postings(of: $0).weight }
    let sources = search.index.description.sources
    let frequency = found.places(of: number).reduce(UInt64(0)) { sum, place in
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

/// The places of a search's terms in one record.
private struct FoundTerms: ~Copyable {
  /// The terms of the search, and the terms that began with one of its prefixes so far.
  private var terms = TermTable()
  private var weights: [Double?] = []
  private var prefixes: [[UInt8]] = []
  /// Whether a term or prefix begins with the byte.
  private var isFirst = [Bool](repeating: false, count: 256)
  /// The places of each term in the current record.
  private var places: [[(source: UInt32, position: UInt32)]] = []
  /// The numbers of the terms that the current record has.
  private var present: [UInt32] = []
  /// The number of words of the record.
  var length: UInt16 = 0

  init() {}

  /// Adds a term that is looked for, and returns its number.
  mutating func look(for term: [UInt8]) -> UInt32 {
    let number = term._withBytes { terms.number(of: $0) }
    if Int(number) == places.count {
      weights.append(nil)
      places.append([])
    }
    isFirst[Int(term.first ?? 0)] = true
    return number
  }

  mutating func look(forPrefix prefix: [UInt8]) {
    prefixes.append(prefix)
    isFirst[Int(prefix.first ?? 0)] = true
  }

  mutating func removePlaces() {
    for number in present { places[Int(number)].removeAll(keepingCapacity: true) }
    present.removeAll(keepingCapacity: true)
  }

  /// Notes a term of the record if it is looked for.
  @inline(__always)
  mutating func note(_ term: ByteView, _ source: UInt32, _ position: UInt32) {
    if isFirst[Int(term[0])] { noteIfSought(term, source, position) }
  }

  private mutating func noteIfSought(_ term: ByteView, _ source: UInt32, _ position: UInt32) {
    guard let number = number(of: term) else { return }
    if let last = places[Int(number)].last {
      if last == (source, position) { return }
    } else {
      present.append(number)
    }
    places[Int(number)].append((source, position))
  }

  private mutating func number(of term: ByteView) -> UInt32? {
    if let known = terms.known(term) { return known }
    for prefix in prefixes where prefix._withBytes({ term.starts(with: $0) }) {
      return look(for: Array(term))
    }
    return nil
  }

  func places(of number: UInt32) -> [(source: UInt32, position: UInt32)] { places[Int(number)] }

  /// The terms of the record that begin with `prefix`.
  func numbers(beginningWith prefix: [UInt8]) -> [UInt32] {
    present.filter { number in
      prefix._withBytes { prefix in terms.withTerm(Int(number)) { $0.starts(with: prefix) } }
    }
  }

  mutating func weight(of number: UInt32, _ read: ([UInt8]) throws -> Double) rethrows -> Double {
    if let known = weights[Int(number)] { return known }
    let weight = try read(terms.withTerm(Int(number)) { Array($0) })
    weights[Int(number)] = weight
    return weight
  }
}
