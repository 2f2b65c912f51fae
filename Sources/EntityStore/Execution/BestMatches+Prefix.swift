internal import LodestoreFormat

extension SearchNode {
  /// Returns the best records of a search with one beginning of a word, alone or among other parts;
  /// `nil` for other searches.
  func bestByBeginning(
    _ count: Int, where isWanted: (UInt64) throws -> Bool
  ) throws -> [BestMatches.Match]? {
    guard count <= PrefixPostings.mostRanked else { return nil }
    if let prefix = self as? PrefixPostings, prefix.isWord {
      return try prefix.best(count, over: nil, where: isWanted)
    }
    guard let node = self as? TypedNode, node.typed.count == 1,
      let prefix = node.typed[0] as? PrefixPostings, prefix.isWord
    else { return nil }
    return try prefix.best(count, over: try node.others.scores(), where: isWanted)
  }
}

extension PrefixPostings {
  fileprivate static let mostRanked = 1_000

  /// The best records, without a pass over the postings of frequent words.
  ///
  /// A rare word has the higher score, so that most blocks of frequent words cannot have a better
  /// match.
  ///
  /// - Parameter others: the scores of the other parts for the only records that are wanted; `nil`
  ///   for all records.
  fileprivate func best(
    _ count: Int, over others: ScoreTable?, where isWanted: (UInt64) throws -> Bool
  ) throws -> [BestMatches.Match] {
    let highest = others?.highest ?? 0
    if highest == ScoreTable.none { return [] }
    var best = RaisedMatches(capacity: count)
    let statistics = statistics
    let scored = makeScoredBlock()
    try forEachBlock(where: { highest + $0 * SearchStatistics.highestScore >= best.threshold }) {
      block, weight in
      guard highest + weight * statistics.highestScore(of: block) >= best.threshold else { return }
      try scored.read(block, weight, among: others)
      for index in 0..<scored.count where highest + scored.score(index) >= best.threshold {
        let id = scored.id(index)
        try best.raise(id, to: scored.score(index) + (others?.score(of: id) ?? 0), isWanted)
      }
    }
    return best.sorted
  }
}

/// The best records, whose scores come in any order and may rise.
private struct RaisedMatches {
  private let capacity: Int
  private var kept: [UInt64: Double] = [:]
  private var refused: Set<UInt64> = []
  /// The score that a better match has at least.
  private(set) var threshold = -Double.infinity

  init(capacity: Int) { self.capacity = capacity }

  mutating func raise(
    _ id: UInt64, to score: Double, _ isWanted: (UInt64) throws -> Bool
  ) rethrows {
    guard score >= threshold else { return }
    if let old = kept[id] {
      if score > old { kept[id] = score }
      return
    }
    if refused.contains(id) { return }
    guard try isWanted(id) else {
      refused.insert(id)
      return
    }
    kept[id] = score
    if kept.count / 2 > capacity + 8 { leaveOut() }
  }

  private mutating func leaveOut() {
    let best = sorted
    kept = Dictionary(uniqueKeysWithValues: best.map { ($0.id, $0.score) })
    if best.count == capacity, let last = best.last { threshold = last.score }
  }

  /// The matches, the best first.
  var sorted: [BestMatches.Match] {
    Array(
      kept.map { BestMatches.Match(id: $0.key, score: $0.value) }
        .sorted { $1.isWorse(than: $0) }.prefix(capacity))
  }
}
