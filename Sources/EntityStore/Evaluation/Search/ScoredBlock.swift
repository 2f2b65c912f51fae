internal import LodestoreBytes
internal import LodestoreFormat

/// The records of one block of postings with their scores, calculated for a whole block in flat
/// memory.
final class ScoredBlock {
  private let statistics: SearchStatistics
  private let lengths: LengthTable
  private let ids = OwnedBytes(byteCount: PostingBlock.capacity * 8, alignment: 8)
  private let frequencies = OwnedBytes(byteCount: PostingBlock.capacity * 4, alignment: 8)
  private let scores = OwnedBytes(byteCount: PostingBlock.capacity * 8, alignment: 8)
  /// The scores of the frequency 1 by length: most postings have it.
  private let singles = OwnedBytes(byteCount: Int(singleCount) * 8, alignment: 8)
  private static let singleCount: UInt16 = 256
  /// The number of records.
  private(set) var count = 0

  init(_ statistics: SearchStatistics, _ lengths: LengthTable) {
    self.statistics = statistics
    self.lengths = lengths
    for length in 0..<Self.singleCount {
      singles.view.storeBytes(
        of: statistics.score(frequency: 1, length: length), toByteOffset: Int(length) &* 8,
        as: Double.self)
    }
  }

  @inline(__always)
  func id(_ index: Int) -> UInt64 {
    ids.view.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self)
  }

  @inline(__always)
  func score(_ index: Int) -> Double {
    scores.view.loadUnaligned(fromByteOffset: index &* 8, as: Double.self)
  }

  /// Replaces the content by the records of `block`.
  ///
  /// - Parameters:
  ///   - weight: the weight of the block's term.
  ///   - wanted: a table with the only records that are wanted; `nil` for all.
  func read(_ block: PostingBlock, _ weight: Double, among wanted: ScoreTable? = nil) throws {
    let (ids, frequencies, scores, singles) =
      (ids.view, frequencies.view, scores.view, singles.view)
    try block.readIDs(into: ids)
    block.readFrequencies(into: frequencies)
    var chunk = UInt64.max
    var lengthsOfChunk = ByteView()
    var hasLengths = false
    var wantedOfChunk: MutableByteView?
    var count = 0
    for index in 0..<block.count {
      let id = ids.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self)
      if id / SearchKey.chunkSize != chunk {
        chunk = id / SearchKey.chunkSize
        wantedOfChunk = wanted?.chunk(chunk)
        hasLengths = false
      }
      if wanted != nil {
        guard let wantedOfChunk, ScoreTable.hasScore(id, in: wantedOfChunk) else { continue }
      }
      if !hasLengths {
        lengthsOfChunk = try lengths.chunk(chunk)
        hasLengths = true
      }
      let length = LengthTable.length(of: id, in: lengthsOfChunk)
      let frequency = frequencies.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self)
      let factor =
        frequency == 1 && length < Self.singleCount
        ? singles.loadUnaligned(fromByteOffset: Int(length) &* 8, as: Double.self)
        : statistics.score(frequency: frequency, length: length)
      ids.storeBytes(of: id, toByteOffset: count &* 8, as: UInt64.self)
      scores.storeBytes(of: weight * factor, toByteOffset: count &* 8, as: Double.self)
      count &+= 1
    }
    self.count = count
  }
}
