/// Sorts places by words: radix sort, least significant byte first, which keeps equal words in the
/// order in which they come.
struct WordSort {
  struct Entry {
    var word: UInt64
    var place: Int
  }

  /// Below this many entries comparing is cheaper than counting.
  private static let smallCount = 64
  /// How many entries are moved between two calls of `tick`.
  private static let stepCount = 1 << 14

  private(set) var entries: [Entry] = []
  private var scratch: [Entry] = []

  var count: Int { entries.count }

  @inline(__always)
  mutating func append(_ word: UInt64, place: Int) {
    entries.append(Entry(word: word, place: place))
  }

  mutating func reserve(_ count: Int) { entries.reserveCapacity(count) }

  mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

  /// Turns the order of all entries round, that of equal words too.
  mutating func reverse() { entries.reverse() }

  /// Sorts by the words, upwards; calls `tick` now and then.
  mutating func sort(tick: () throws -> Void = {}) rethrows {
    guard entries.count > Self.smallCount else {
      insertionSort()
      return
    }
    // One pass counts all eight bytes; one that all words share is passed over.
    var counts = [Int](repeating: 0, count: 8 * 256)
    var isSorted = true
    var start = 0
    while start < entries.count {
      let end = min(entries.count, start + Self.stepCount)
      count(start..<end, &counts, &isSorted)
      start = end
      try tick()
    }
    if isSorted { return }
    if scratch.count < entries.count {
      scratch = [Entry](repeating: Entry(word: 0, place: 0), count: entries.count)
    }
    for byte in 0..<8 {
      let range = byte * 256..<(byte + 1) * 256
      if counts[range].contains(entries.count) { continue }
      var sum = 0
      for i in range {
        let count = counts[i]
        counts[i] = sum
        sum += count
      }
      start = 0
      while start < entries.count {
        let end = min(entries.count, start + Self.stepCount)
        move(start..<end, byte, &counts)
        start = end
        try tick()
      }
      swapBuffers()
    }
  }

  private mutating func swapBuffers() {
    // The scratch of a larger sort before is longer than what it takes.
    if scratch.count > entries.count { scratch.removeLast(scratch.count - entries.count) }
    swap(&entries, &scratch)
  }

  private func count(_ range: Range<Int>, _ counts: inout [Int], _ isSorted: inout Bool) {
    entries.withUnsafeBufferPointer { entries in
      counts.withUnsafeMutableBufferPointer { counts in
        var previous = entries[max(0, range.lowerBound - 1)].word
        var ascends = isSorted
        for i in range {
          var word = entries[i].word
          ascends = ascends && word >= previous
          previous = word
          for byte in 0..<8 {
            counts[byte &* 256 &+ Int(truncatingIfNeeded: word & 0xff)] &+= 1
            word &>>= 8
          }
        }
        isSorted = ascends
      }
    }
  }

  private mutating func move(_ range: Range<Int>, _ byte: Int, _ counts: inout [Int]) {
    let shift = UInt64(byte * 8)
    entries.withUnsafeBufferPointer { entries in
      scratch.withUnsafeMutableBufferPointer { scratch in
        counts.withUnsafeMutableBufferPointer { counts in
          for i in range {
            let entry = entries[i]
            let digit = byte &* 256 &+ Int(truncatingIfNeeded: (entry.word &>> shift) & 0xff)
            scratch[counts[digit]] = entry
            counts[digit] &+= 1
          }
        }
      }
    }
  }

  private mutating func insertionSort() {
    guard entries.count > 1 else { return }
    for i in 1..<entries.count {
      let entry = entries[i]
      var j = i
      while j > 0, entries[j - 1].word > entry.word {
        entries[j] = entries[j - 1]
        j -= 1
      }
      entries[j] = entry
    }
  }
}
