internal import LodestoreBytes
internal import LodestoreFormat
import LodestoreSystem

/// The numbers by which matches of a search are scored: BM25 (Robertson and Zaragoza, 2009).
struct SearchStatistics {
  /// The saturation of frequencies.
  static let k1 = 1.2
  /// The share of the normalization by lengths.
  static let b = 0.75
  /// The score of a word of the weight 1 that no frequency reaches.
  static let highestScore = k1 + 1

  /// The number of records with words.
  let recordCount: Double
  /// The mean number of words of these records.
  let meanLength: Double
  /// The highest weight of a source of the index.
  private let heaviest: UInt32

  init(_ value: ByteView?, of index: StoredComputedIndex) {
    heaviest = index.description.sources.map(\.weight).max() ?? 1
    guard let value, value.count == 16 else {
      recordCount = 0
      meanLength = 1
      return
    }
    recordCount = Double(value.uint64(at: 0))
    meanLength = max(1, Double(value.uint64(at: 8)) / max(1, recordCount))
  }

  /// The weight of a word that `count` records have.
  func weight(ofTermIn count: UInt64) -> Double {
    let count = min(Double(count), recordCount)
    return log(1 + (recordCount - count + 0.5) / (count + 0.5))
  }

  /// The score of a word of the weight 1.
  @inline(__always)
  func score(frequency: UInt32, length: UInt16) -> Double {
    let frequency = Double(frequency)
    let norm = Self.k1 * (1 - Self.b + Self.b * Double(length) / meanLength)
    return frequency * (Self.k1 + 1) / (frequency + norm)
  }

  /// The score that no posting of the block exceeds, of a word of the weight 1.
  @inline(__always)
  func highestScore(of block: PostingBlock) -> Double {
    guard block.hasBounds else {
      // A record has at least as many words as the term has positions.
      let frequency = UInt32(clamping: block.highestFrequency)
      return score(
        frequency: frequency, length: UInt16(clamping: max(1, frequency / max(1, heaviest))))
    }
    var highest = 0.0
    block.forEachBound { frequency, length in
      highest = max(highest, score(frequency: frequency, length: length))
    }
    return highest
  }
}
