/// Scores of records, which are set in any order of ids.
final class ScoreTable {
  private static let chunkSize: UInt64 = 512
  private static let none = -Double.infinity

  /// The place of the first score of each chunk in ``scores``.
  private var places = ChunkTable<Int>()
  private var scores: [Double] = []

  /// The score of a record; `nil` if it has none.
  @inline(__always)
  func score(of id: UInt64) -> Double? {
    guard let place = places[id / Self.chunkSize] else { return nil }
    let score = scores[place &+ Int(id % Self.chunkSize)]
    return score == Self.none ? nil : score
  }

  /// Sets the score of a record unless it has a higher one.
  @inline(__always)
  func raise(_ id: UInt64, to score: Double) {
    let place = places[id / Self.chunkSize] ?? addChunk(id / Self.chunkSize)
    let index = place &+ Int(id % Self.chunkSize)
    if score > scores[index] { scores[index] = score }
  }

  @inline(never)
  private func addChunk(_ number: UInt64) -> Int {
    let place = scores.count
    places[number] = place
    scores.append(contentsOf: repeatElement(Self.none, count: Int(Self.chunkSize)))
    return place
  }

  /// The records with scores, in the order of ids.
  func sorted() -> ScoredRecords {
    var ids: [UInt64] = []
    var found: [Double] = []
    for (number, place) in places.sorted {
      for index in 0..<Int(Self.chunkSize) where scores[place + index] != Self.none {
        ids.append(number * Self.chunkSize + UInt64(index))
        found.append(scores[place + index])
      }
    }
    return ScoredRecords(ids: ids, scores: found)
  }
}

/// Records with known scores, in the order of ids.
final class ScoredRecords: SearchNode {
  private let ids: [UInt64]
  private let scores: [Double]
  private var index = 0
  private(set) var id: UInt64 = 0

  init(ids: [UInt64], scores: [Double]) {
    self.ids = ids
    self.scores = scores
  }

  var recordCount: UInt64 { UInt64(ids.count) }

  func advance(to target: UInt64) {
    if id >= target { return }
    while index < ids.count, ids[index] < target { index &+= 1 }
    id = index < ids.count ? ids[index] : .max
  }

  func score() -> Double { scores[index] }
}
