internal import LodestoreBytes
internal import LodestoreFormat

/// Scores of records, which are set in any order of ids.
final class ScoreTable {
  /// The highest score of a table without scores.
  static var none: Double { -.infinity }

  /// The scores of the records of each chunk, after a bit for each record with a score.
  ///
  /// The bits of many records are in the processor's nearest memory, their scores are not.
  private var chunks = ChunkTable<MutableByteView>()
  private var memory: [Chunk] = []
  /// The highest score that was set.
  private(set) var highest = none

  private static var bitsSize: Int { Int(SearchKey.chunkSize) / 8 }

  private final class Chunk {
    let bytes = OwnedBytes(
      byteCount: ScoreTable.bitsSize + Int(SearchKey.chunkSize) * 8, alignment: 64)
  }

  /// The scores of the records of a chunk; `nil` if none has a score.
  @inline(__always)
  func chunk(_ number: UInt64) -> MutableByteView? { chunks[number] }

  /// Whether a record, whose chunk is given, has a score.
  @inline(__always)
  static func hasScore(_ id: UInt64, in chunk: MutableByteView) -> Bool {
    let index = Int(id % SearchKey.chunkSize)
    return chunk[index &>> 3] &>> UInt8(index & 7) & 1 == 1
  }

  /// The score of a record, whose chunk is given.
  @inline(__always)
  private static func score(of id: UInt64, in chunk: MutableByteView) -> Double {
    let index = Int(id % SearchKey.chunkSize)
    return chunk.loadUnaligned(fromByteOffset: bitsSize &+ index &* 8, as: Double.self)
  }

  /// The score of a record; `nil` if it has none.
  @inline(__always)
  func score(of id: UInt64) -> Double? {
    guard let chunk = chunks[id / SearchKey.chunkSize], Self.hasScore(id, in: chunk) else {
      return nil
    }
    return Self.score(of: id, in: chunk)
  }

  /// Sets the score of a record unless it has a higher one.
  @inline(__always)
  func raise(_ id: UInt64, to score: Double) {
    let number = id / SearchKey.chunkSize
    Self.raise(id, to: score, in: chunks[number] ?? addChunk(number))
    if score > highest { highest = score }
  }

  @inline(__always)
  private static func raise(_ id: UInt64, to score: Double, in chunk: MutableByteView) {
    if hasScore(id, in: chunk), score <= Self.score(of: id, in: chunk) { return }
    let index = Int(id % SearchKey.chunkSize)
    chunk[index &>> 3] |= 1 &<< UInt8(index & 7)
    chunk.storeBytes(of: score, toByteOffset: bitsSize &+ index &* 8, as: Double.self)
  }

  /// Sets the scores of the records of a block unless they have higher ones.
  func raise(_ block: ScoredBlock) {
    var number = UInt64.max
    var chunk = MutableByteView(start: nil, count: 0)
    var highest = highest
    for index in 0..<block.count {
      let id = block.id(index)
      if id / SearchKey.chunkSize != number {
        number = id / SearchKey.chunkSize
        chunk = chunks[number] ?? addChunk(number)
      }
      let score = block.score(index)
      Self.raise(id, to: score, in: chunk)
      highest = max(highest, score)
    }
    self.highest = highest
  }

  @inline(never)
  private func addChunk(_ number: UInt64) -> MutableByteView {
    let chunk = Chunk()
    let bytes = chunk.bytes.view
    bytes.part(from: 0, count: Self.bitsSize).zero()
    memory.append(chunk)
    chunks[number] = bytes
    return bytes
  }

  /// The records with scores, in the order of ids.
  func sorted() -> ScoredRecords {
    var ids: [UInt64] = []
    var found: [Double] = []
    for (number, chunk) in chunks.sorted {
      let first = number * SearchKey.chunkSize
      for id in first...first + (SearchKey.chunkSize - 1) {
        guard Self.hasScore(id, in: chunk) else { continue }
        ids.append(id)
        found.append(Self.score(of: id, in: chunk))
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
