/// Sorts indices by words; those of equal words keep the order in which they were added.
struct WordSort {
  /// Up to this many items comparing is cheaper than counting.
  private static let smallCount = 64

  private(set) var items: [SortItem] = []
  private var scratch: [SortItem] = []

  var count: Int { items.count }

  @inline(__always)
  mutating func append(_ word: UInt64, index: Int) {
    items.append(SortItem(word: word, payload: UInt64(truncatingIfNeeded: index)))
  }

  mutating func reserve(_ count: Int) { items.reserveCapacity(count) }

  mutating func removeAll() { items.removeAll(keepingCapacity: true) }

  /// Reverses the order of all items, that of equal words too.
  mutating func reverse() { items.reverse() }

  /// Sorts by the words, ascending; calls `tick` every few thousand items.
  mutating func sort(tick: () throws -> Void) rethrows {
    guard items.count > Self.smallCount else {
      insertionSort()
      return
    }
    let isInScratch = try RadixSort.withCounts { counts in
      let isSorted = try items.withUnsafeMutableBufferPointer { items in
        try RadixSort.count(items, in: counts, by: { $0.word }, tick: tick)
      }
      if isSorted { return false }
      matchScratch()
      return try items.withUnsafeMutableBufferPointer { items in
        try scratch.withUnsafeMutableBufferPointer { scratch in
          try RadixSort.distribute(
            items, scratch: scratch, counts: counts, by: { $0.word }, tick: tick)
        }
      }
    }
    if isInScratch { swap(&items, &scratch) }
  }

  /// Makes the scratch list, which is kept from sort to sort, as long as the items.
  private mutating func matchScratch() {
    if scratch.count < items.count {
      scratch = [SortItem](repeating: SortItem(word: 0, payload: 0), count: items.count)
    } else {
      scratch.removeLast(scratch.count - items.count)
    }
  }

  private mutating func insertionSort() {
    guard items.count > 1 else { return }
    for i in 1..<items.count {
      let item = items[i]
      var j = i
      while j > 0, items[j - 1].word > item.word {
        items[j] = items[j - 1]
        j -= 1
      }
      items[j] = item
    }
  }
}
