internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The records that have a word with a given beginning, with the highest score of such a word.
///
/// One pass over the postings of all these words collects the records. The pass runs at the first
/// move, so that other parts of the search can restrict it before.
final class PrefixPostings: SearchNode {
  let context: SearchContext
  private let prefix: [UInt8]
  /// The place of the word in its phrase.
  private let place: UInt32
  let sources: Set<UInt32>?
  /// The phrase before the word; `nil` for a word alone.
  let before: PhraseNode?
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

  private func collected() throws -> ScoredRecords {
    let table = ScoreTable()
    if sources == nil, before == nil {
      try forEachBlock { block, weight in
        try forEachPosting(of: block) { id, index in
          table.raise(id, to: try score(block, index, id, weight))
        }
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
    let ends = OwnedBytes(byteCount: PostingBlock.capacity * 4, alignment: 8)
    try forEachBlock { block, weight in
      var positions: ByteView?
      try forEachPosting(of: block) { id, index in
        let phrase = phrases[id]
        guard before == nil || phrase != nil else { return }
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
        guard isFound else { return }
        table.raise(id, to: try score(block, index, id, weight) + (phrase?.score ?? 0))
      }
    }
  }

  // MARK: One pass

  @inline(__always)
  func score(
    _ block: PostingBlock, _ index: Int, _ id: UInt64, _ weight: Double
  ) throws -> Double {
    weight
      * context.statistics.score(
        frequency: block.frequency(at: index), length: try context.lengths.length(of: id))
  }

  /// Calls `body` with each wanted record of a block and the index of its posting.
  @inline(__always)
  func forEachPosting(
    of block: PostingBlock, _ body: (UInt64, Int) throws -> Void
  ) throws {
    if block.count == 1 {
      if wanted.map({ $0.score(of: block.firstID) != nil }) ?? true { try body(block.firstID, 0) }
      return
    }
    let ids = context.ids.view
    try block.readIDs(into: ids)
    for index in 0..<block.count {
      let id = ids.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self)
      if let wanted, wanted.score(of: id) == nil { continue }
      try body(id, index)
    }
  }

  /// Calls `body` with each block of the words, and the weight of its word.
  func forEachBlock(_ body: (PostingBlock, _ weight: Double) throws -> Void) throws {
    let cursor = try Cursor(context.tree, in: context.core.transaction)
    /// The blocks before the last one of the current term, whose total the last one has.
    var earlier: [ByteView] = []
    // Most words are rare, with the same few numbers of records.
    var weight = (count: UInt64(0), value: 0.0)
    var isThere = try cursor.seek(atOrAfter: prefix)
    while isThere {
      let key = cursor.key
      guard prefix._withBytes({ key.starts(with: $0) }), let (_, last) = SearchKey.block(key)
      else { break }
      if last != nil {
        earlier.append(cursor.value)
      } else {
        let block = try PostingBlock(cursor.value)
        let count = block.total ?? UInt64(block.count)
        if weight.count != count {
          weight = (count, context.statistics.weight(ofTermIn: count))
        }
        for value in earlier { try body(try PostingBlock(value), weight.value) }
        earlier.removeAll(keepingCapacity: true)
        try body(block, weight.value)
      }
      isThere = try cursor.next()
    }
    if !earlier.isEmpty {
      throw StoreError.damagedIndex(context.search.index.entries.name, "a term has no last block")
    }
  }
}
