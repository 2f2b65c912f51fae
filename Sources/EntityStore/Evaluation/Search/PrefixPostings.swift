internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The records that have a word with a given beginning, with the highest score of such a word.
///
/// One pass over the postings of all these words collects the records. The pass runs at the first
/// move, so that other parts of the search can restrict it before.
final class PrefixPostings: SearchNode {
  private let context: SearchContext
  private let prefix: [UInt8]
  /// The place of the word in its phrase.
  private let place: UInt32
  private let sources: Set<UInt32>?
  /// The phrase before the word; `nil` for a word alone.
  private let before: PhraseNode?
  /// The only records that are wanted; `nil` for all.
  private var wanted: ScoreTable?
  private var found: ScoredRecords?
  private(set) var id: UInt64 = 0

  init(
    _ context: SearchContext, _ last: SearchQuery.Term, sources: Set<UInt32>?,
    after before: PhraseNode?
  ) {
    self.context = context
    prefix = last.bytes
    place = last.place
    self.sources = sources
    self.before = before
  }

  /// A rough number: the words are not counted before the first move.
  var recordCount: UInt64 {
    let blocks = (try? context.blockCount(beginningWith: prefix)) ?? 0
    return min(UInt64(context.statistics.recordCount), before?.recordCount ?? .max, blocks * 8)
  }

  var hasPrefix: Bool { true }
  func restrict(to wanted: ScoreTable) { self.wanted = wanted }

  func advance(to target: UInt64) throws {
    if id >= target { return }
    let found = try found ?? collected()
    self.found = found
    found.advance(to: target)
    id = found.id
  }

  func score() -> Double { found?.score() ?? 0 }

  /// Whether a word anywhere in a text is meant, and no phrase.
  var isWord: Bool { sources == nil && before == nil }
  var statistics: SearchStatistics { context.statistics }
  func makeScoredBlock() -> ScoredBlock { ScoredBlock(context.statistics, context.lengths) }

  private func collected() throws -> ScoredRecords {
    let table = ScoreTable()
    if isWord {
      let scored = makeScoredBlock()
      try forEachBlock { block, weight in
        try scored.read(block, weight, among: wanted)
        table.raise(scored)
      }
    } else {
      try collectPhrases(in: table)
    }
    return table.sorted()
  }

  private func collectPhrases(in table: ScoreTable) throws {
    /// The beginnings of the phrase in each record, and its score so far.
    var phrases: [UInt64: (starts: Set<UInt64>, score: Double)] = [:]
    if let before {
      try before.advance(to: 1)
      while before.id != .max {
        phrases[before.id] = (before.starts, try before.score())
        try before.advance(to: before.id + 1)
      }
    }
    let ids = OwnedBytes(byteCount: PostingBlock.capacity * 8, alignment: 8)
    let ends = OwnedBytes(byteCount: PostingBlock.capacity * 4, alignment: 8)
    try forEachBlock { block, weight in
      try block.readIDs(into: ids.view)
      var positions: PositionNumbers?
      for index in 0..<block.count {
        let id = ids.view.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self)
        if let wanted, wanted.score(of: id) == nil { continue }
        let phrase = phrases[id]
        guard before == nil || phrase != nil else { continue }
        let all = try positions ?? block.readPositionEnds(into: ends.view)
        positions = all
        var isFound = false
        try PositionList.forEach(
          try PostingBlock.positions(at: index, ends.view, all), sourceCount: context.sourceCount
        ) { source, position in
          guard position >= place, sources?.contains(source) ?? true else { return }
          let start = UInt64(source) << 32 | UInt64(position - place)
          if phrase?.starts.contains(start) ?? true { isFound = true }
        }
        guard isFound else { continue }
        let score = context.statistics.score(
          frequency: block.frequency(at: index), length: try context.lengths.length(of: id))
        table.raise(id, to: weight * score + (phrase?.score ?? 0))
      }
    }
  }

  /// Calls `body` with each block of the words, and the weight of its word.
  ///
  /// Words with several blocks come last, the rarest first. Their blocks are read only if
  /// `isWorthwhile` is true for the weight of the word.
  func forEachBlock(
    where isWorthwhile: (_ weight: Double) -> Bool = { _ in true },
    _ body: (PostingBlock, _ weight: Double) throws -> Void
  ) throws {
    let cursor = try Cursor(context.tree, in: context.core.transaction)
    let form = context.form
    var frequent: [(term: [UInt8], count: UInt64)] = []
    // Most words are rare, with the same few numbers of records.
    var weight = (count: UInt64(0), value: 0.0)
    var key: [UInt8] = []
    var isThere = try cursor.seek(atOrAfter: prefix)
    while isThere, cursor.key.begins(with: prefix), let (term, last) = SearchKey.block(cursor.key) {
      if last != nil {
        // Only the last block has the number of records.
        SearchKey.setBlock(of: term, endingWith: nil, in: &key)
        let term = Array(term)
        guard try key._withBytes({ try cursor.seek($0) }) else { throw noLastBlock }
        frequent.append((term, try PostingBlock.total(cursor.value)))
      } else {
        let block = try PostingBlock(cursor.value, form)
        if weight.count != UInt64(block.count) {
          weight = (
            UInt64(block.count), context.statistics.weight(ofTermIn: UInt64(block.count))
          )
        }
        try body(block, weight.value)
      }
      isThere = try cursor.next()
    }
    for (term, count) in frequent.sorted(by: { $0.count < $1.count }) {
      let weight = context.statistics.weight(ofTermIn: count)
      guard isWorthwhile(weight) else { continue }
      term._withBytes { SearchKey.setBlock(of: $0, endingWith: 0, in: &key) }
      var isThere = try key._withBytes { try cursor.seek(atOrAfter: $0) }
      while true {
        guard isThere, let (found, last) = SearchKey.block(cursor.key),
          term._withBytes({ found.elementsEqual($0) })
        else { throw noLastBlock }
        try body(try PostingBlock(cursor.value, form), weight)
        if last == nil { break }
        isThere = try cursor.next()
      }
    }
  }

  private var noLastBlock: StoreError {
    .damagedIndex(context.search.index.entries.name, "a term has no last block")
  }
}

extension ByteView {
  @inline(__always)
  fileprivate func begins(with prefix: [UInt8]) -> Bool {
    prefix.count <= count && prefix._withBytes { compareBytes(self, $0, prefix.count) == 0 }
  }
}
