internal import LodestoreFormat

extension PrefixPostings {
  private static let mostRanked = 1_000

  /// The best records among all, without a pass over the postings of frequent words.
  ///
  /// A rare word has the higher score, so that most blocks of frequent words cannot have a better
  /// match. Returns `nil` for a phrase, and for more records than ``mostRanked``.
  func best(
    _ count: Int, among filter: GivenRecords?, where isWanted: (UInt64) throws -> Bool
  ) throws -> [BestMatches.Match]? {
    guard sources == nil, before == nil, filter == nil, count <= Self.mostRanked else {
      return nil
    }
    var best = RaisedMatches(capacity: count)
    try forEachBlock { block, weight in
      guard weight * context.statistics.highestScore(of: block) >= best.threshold else { return }
      try forEachPosting(of: block) { id, index in
        try best.raise(id, to: try score(block, index, id, weight), isWanted)
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
    if kept.count / 2 > capacity + 32 { leaveOut() }
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
