/// Sorts indices by words; indices with equal words keep their order.
struct WordSort {
  /// The number of items up to which comparing them is cheaper than counting bytes.
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

  /// Reverses the order of all items, including those with equal words.
  mutating func reverse() { items.reverse() }

  /// Sorts by the words in ascending order, calling `tick` every few thousand items.
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

  /// Makes the scratch list as long as the items.
  ///
  /// The list is reused from sort to sort.
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
