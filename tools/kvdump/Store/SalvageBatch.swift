import LodestoreFormat
import LodestorePages

/// Pairs in memory until there are enough for a commit.
struct Batch<Key> {
  static var mostBytes: Int { 16 << 20 }

  private var pairs: [(key: Key, body: [UInt8])] = []
  private var byteCount = 0

  var isFull: Bool { byteCount >= Self.mostBytes }

  mutating func add(_ key: Key, _ body: [UInt8]) {
    pairs.append((key, body))
    byteCount += body.count
  }

  /// The pairs, which are no longer in the batch.
  mutating func take() -> [(key: Key, body: [UInt8])] {
    defer { self = Batch() }
    return pairs
  }
}

/// Ids that come in any order, each taken once: a bit for each of them.
struct IDsOnce {
  private let ranges: [Range<UInt64>]
  /// How many ids are in the ranges before each.
  private let ranks: [Int]
  private var taken: PageSet

  /// - Parameter ids: those that may come, normalized.
  init(_ ids: IDRuns) {
    ranges = ids.ranges
    var count = 0
    ranks = ranges.map { range in
      defer { count += range.count }
      return count
    }
    taken = PageSet(bound: count)
  }

  /// Whether `id` is one of them and comes for the first time.
  mutating func take(_ id: UInt64) -> Bool {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound <= id { low = middle + 1 } else { high = middle }
    }
    guard low < ranges.count, ranges[low].contains(id) else { return false }
    return taken.insert(ranks[low] + Int(id - ranges[low].lowerBound))
  }
}
