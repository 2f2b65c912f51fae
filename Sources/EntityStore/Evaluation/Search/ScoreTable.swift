/// Scores of records, which are set in any order of ids.
final class ScoreTable {
  private static let chunkSize: UInt64 = 512
  private static let none = -Double.infinity

  /// The index in ``chunks`` by the number of a chunk.
  private var places: [UInt64: Int] = [:]
  private var chunks: [[Double]] = []
  private var lastNumber = UInt64.max
  private var lastPlace = 0

  /// The place of the chunk with the number, or -1.
  @inline(__always)
  private func place(of number: UInt64) -> Int {
    if number == lastNumber { return lastPlace }
    return find(number)
  }

  @inline(never)
  private func find(_ number: UInt64) -> Int {
    lastNumber = number
    lastPlace = places[number] ?? -1
    return lastPlace
  }

  /// The score of a record; `nil` if it has none.
  @inline(__always)
  func score(of id: UInt64) -> Double? {
    let place = place(of: id / Self.chunkSize)
    guard place >= 0 else { return nil }
    let score = chunks[place][Int(id % Self.chunkSize)]
    return score == Self.none ? nil : score
  }

  /// Sets the score of a record unless it has a higher one.
  @inline(__always)
  func raise(_ id: UInt64, to score: Double) {
    var place = place(of: id / Self.chunkSize)
    if place < 0 { place = addChunk(id / Self.chunkSize) }
    let index = Int(id % Self.chunkSize)
    if score > chunks[place][index] { chunks[place][index] = score }
  }

  private func addChunk(_ number: UInt64) -> Int {
    lastPlace = chunks.count
    places[number] = lastPlace
    chunks.append(Array(repeating: Self.none, count: Int(Self.chunkSize)))
    return lastPlace
  }

  /// The records with scores, in the order of ids.
  func sorted() -> ScoredRecords {
    var ids: [UInt64] = []
    var scores: [Double] = []
    for (number, place) in places.sorted(by: { $0.key < $1.key }) {
      for (index, score) in chunks[place].enumerated() where score != Self.none {
        ids.append(number * Self.chunkSize + UInt64(index))
        scores.append(score)
      }
    }
    return ScoredRecords(ids: ids, scores: scores)
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
