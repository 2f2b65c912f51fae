/// A stable radix sort by words of 64 bits, least significant byte first.
///
/// The sort is linear, whereas each comparison of a comparison sort misses the cache. Sorting has
/// two steps, so that its callers decide where the second list comes from: ``count`` reads all
/// words once, and ``distribute`` moves the elements. All functions are compiled into their
/// callers.
enum RadixSort {
  /// The number of elements between two calls of `tick`.
  private static let stepCount = 1 << 14

  /// Calls `body` with room for the counts of the values of `digitCount` bytes, all of them zero.
  ///
  /// `body` must not end with a copy of memory. Swift 6.3 compiles that to a jump into `memmove`,
  /// after which the register of a thrown error is not restored. The caller then takes the
  /// register's content for an error. `tools/lint-calls` searches a release build for such jumps.
  @inline(__always)
  static func withCounts<Result>(
    digitCount: Int = 8, _ body: (UnsafeMutableBufferPointer<Int>) throws -> Result
  ) rethrows -> Result {
    try withUnsafeTemporaryAllocation(of: Int.self, capacity: max(1, digitCount) * 256) { counts in
      counts.initialize(repeating: 0)
      return try body(counts)
    }
  }

  /// Counts the values of the lowest `digitCount` bytes of one word.
  @inline(__always)
  static func count(
    _ word: UInt64, in counts: UnsafeMutableBufferPointer<Int>, digitCount: Int = 8
  ) {
    var rest = word
    for digit in 0..<digitCount {
      counts[digit &* 256 &+ Int(truncatingIfNeeded: rest & 0xff)] &+= 1
      rest &>>= 8
    }
  }

  /// Counts the values of the lowest `digitCount` bytes of all words.
  ///
  /// Returns whether the words are already in ascending order.
  @inline(__always)
  static func count<Element: BitwiseCopyable>(
    _ elements: UnsafeMutableBufferPointer<Element>, in counts: UnsafeMutableBufferPointer<Int>,
    digitCount: Int = 8, by word: (Element) -> UInt64, tick: () throws -> Void
  ) rethrows -> Bool {
    var ascends = true
    var previous: UInt64 = 0
    var start = 0
    while start < elements.count {
      let end = min(elements.count, start &+ stepCount)
      for index in start..<end {
        let value = word(elements[index])
        ascends = ascends && value >= previous
        previous = value
        count(value, in: counts, digitCount: digitCount)
      }
      start = end
      try tick()
    }
    return ascends
  }

  /// Sorts by `digitCount` bytes of the words from `lowestBit`, which `counts` has counted.
  ///
  /// Elements in which these bytes are equal keep their order.
  ///
  /// - Returns: whether the result is in `scratch`, which must be as long as `elements` and need
  ///   not be initialized.
  @inline(__always)
  static func distribute<Element: BitwiseCopyable>(
    _ elements: UnsafeMutableBufferPointer<Element>,
    scratch: UnsafeMutableBufferPointer<Element>, counts: UnsafeMutableBufferPointer<Int>,
    digitCount: Int = 8, lowestBit: UInt64 = 0, by word: (Element) -> UInt64,
    tick: () throws -> Void
  ) rethrows -> Bool {
    assert(scratch.count == elements.count)
    var source = elements
    var target = scratch
    var isInScratch = false
    for digit in 0..<digitCount {
      let starts = UnsafeMutableBufferPointer(rebasing: counts[digit * 256..<(digit + 1) * 256])
      // If all words have the same byte here, they need no move.
      if starts.contains(elements.count) { continue }
      var sum = 0
      for value in 0..<256 {
        let count = starts[value]
        starts[value] = sum
        sum += count
      }
      assert(sum == elements.count)
      let shift = lowestBit &+ UInt64(digit * 8)
      var start = 0
      while start < elements.count {
        let end = min(elements.count, start &+ stepCount)
        for index in start..<end {
          let element = source[index]
          let value = Int(truncatingIfNeeded: (word(element) &>> shift) & 0xff)
          target[starts[value]] = element
          starts[value] &+= 1
        }
        start = end
        try tick()
      }
      swap(&source, &target)
      isInScratch.toggle()
    }
    assert(
      source.indices.dropFirst().allSatisfy {
        word(source[$0 - 1]) >> lowestBit <= word(source[$0]) >> lowestBit
      })
    return isInScratch
  }
}

extension SortBuffer {
  /// Sorts `items` by their words, with this buffer as the second list; items with equal words keep
  /// their order.
  mutating func sort(_ items: UnsafeMutableBufferPointer<SortItem>) {
    let isInScratch = RadixSort.withCounts { counts in
      if RadixSort.count(items, in: counts, by: { $0.word }, tick: {}) { return false }
      reserve(items.count)
      let scratch = UnsafeMutableBufferPointer(start: start, count: items.count)
      return RadixSort.distribute(
        items, scratch: scratch, counts: counts, by: { $0.word }, tick: {})
    }
    // The copy is not the last step of the closure; see `withCounts`.
    if isInScratch {
      _ = items.update(fromContentsOf: UnsafeBufferPointer(start: start, count: items.count))
    }
  }
}
