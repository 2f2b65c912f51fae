/// The records that have one of several terms, with the highest of the terms' scores.
///
/// The records are collected when the first one is asked for.
final class MergedPostings: SearchNode {
  private let terms: [TermPostings]
  private var matches: [(id: UInt64, score: Double)]?
  private var index = 0
  private(set) var id: UInt64 = 0

  init(_ terms: [TermPostings]) { self.terms = terms }

  var recordCount: UInt64 {
    terms.reduce(0) { $0.addingReportingOverflow($1.recordCount).partialValue }
  }

  func advance(to target: UInt64) throws {
    if id >= target { return }
    let matches = try matches ?? collected()
    self.matches = matches
    while index < matches.count, matches[index].id < target { index += 1 }
    id = index < matches.count ? matches[index].id : .max
  }

  private func collected() throws -> [(id: UInt64, score: Double)] {
    var all: [(id: UInt64, score: Double)] = []
    for term in terms {
      try term.advance(to: 1)
      while term.id != .max {
        all.append((term.id, try term.score()))
        try term.advance(to: term.id + 1)
      }
    }
    all.sort { $0.id < $1.id }
    var merged: [(id: UInt64, score: Double)] = []
    merged.reserveCapacity(all.count)
    for match in all {
      if let last = merged.last, last.id == match.id {
        merged[merged.count - 1].score = max(last.score, match.score)
      } else {
        merged.append(match)
      }
    }
    return merged
  }

  func score() throws -> Double { matches?[index].score ?? 0 }
}
