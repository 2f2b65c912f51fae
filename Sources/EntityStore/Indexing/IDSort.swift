/// Sorts record ids; many are sorted by radix, since ids have few significant bytes.
enum IDSort {
  private static let smallCount = 2_048

  static func sort(_ ids: inout [UInt64]) {
    guard ids.count > smallCount else {
      ids.sort()
      return
    }
    let digitCount = (71 - ids.reduce(0, |).leadingZeroBitCount) / 8
    var scratch: [UInt64] = []
    let isInScratch = RadixSort.withCounts(digitCount: digitCount) { counts in
      ids.withUnsafeMutableBufferPointer { ids in
        if RadixSort.count(ids, in: counts, digitCount: digitCount, by: { $0 }, tick: {}) {
          return false
        }
        scratch = [UInt64](repeating: 0, count: ids.count)
        return scratch.withUnsafeMutableBufferPointer { scratch in
          RadixSort.distribute(
            ids, scratch: scratch, counts: counts, digitCount: digitCount, by: { $0 }, tick: {})
        }
      }
    }
    if isInScratch { swap(&ids, &scratch) }
  }

  /// Returns the indices of `ids` in ascending order of the ids; equal ids keep their order.
  static func order(of ids: [UInt64]) -> [UInt32] {
    let isSorted = ids.indices.dropFirst().allSatisfy { ids[$0 - 1] <= ids[$0] }
    if isSorted { return ids.indices.map { UInt32(truncatingIfNeeded: $0) } }
    var sort = WordSort()
    sort.reserve(ids.count)
    for index in ids.indices { sort.append(ids[index], index: index) }
    sort.sort(tick: {})
    return sort.items.map { UInt32(truncatingIfNeeded: $0.payload) }
  }

  /// Sorts and removes repetitions.
  static func sortUnique(_ ids: inout [UInt64]) {
    sort(&ids)
    var last: UInt64?
    ids.removeAll { id in
      defer { last = id }
      return id == last
    }
  }
}
