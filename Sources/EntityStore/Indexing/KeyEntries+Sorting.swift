internal import LodestoreBytes

// Sorts keys by radix, on a word of the eight key bytes after the prefix that all keys share. Runs
// of equal words are sorted again by the next eight bytes. The sort is stable, and linear in the
// number of bytes that distinguish the keys.
extension KeyEntries {
  /// The number of entries up to which comparing them is cheaper than counting bytes.
  private static let smallRun = 64

  /// A run of entries that share their first `depth` key bytes and are not sorted yet.
  private typealias PendingRun = (range: Range<Int>, depth: Int)

  static func sort(
    _ items: UnsafeMutableBufferPointer<SortItem>, keysIn block: ByteView, scratch: inout SortBuffer
  ) {
    // The stack is explicit, since its depth depends on the keys: at most one level for each eight
    // key bytes.
    var pending: [PendingRun] = [(0..<items.count, 0)]
    while let (range, depth) = pending.popLast() {
      if range.count <= smallRun {
        insertionSort(UnsafeMutableBufferPointer(rebasing: items[range]), block, from: depth)
        continue
      }
      let run = UnsafeMutableBufferPointer(rebasing: items[range])
      let start = depth + sharedPrefix(run, block, from: depth)
      for i in run.indices { run[i].word = word(run[i], block, at: start) }
      scratch.sort(run)
      var low = 0
      while low < run.count {
        var high = low + 1
        while high < run.count, run[high].word == run[low].word { high += 1 }
        if high - low > 1 {
          let rest = splitEnded(run, low..<high, start)
          if rest.count > 1 {
            let first = range.lowerBound + rest.lowerBound
            pending.append((first..<first + rest.count, start + 8))
          }
        }
        low = high
      }
    }
  }

  /// Moves the entries of `range` whose keys end within the word to the front, ordered by length.
  ///
  /// All entries of `range` must have equal words.
  ///
  /// Returns the range of the others, which must be sorted by the next word.
  private static func splitEnded(
    _ run: UnsafeMutableBufferPointer<SortItem>, _ range: Range<Int>, _ start: Int
  ) -> Range<Int> {
    // In the word, a key that ends here is padded with zeros. Only such keys can have equal words
    // but different bytes up to the end of the word.
    guard range.contains(where: { run[$0].keyCount <= start + 8 }) else { return range }
    let items = range.map { run[$0] }
    let ended = items.filter { $0.keyCount <= start + 8 }.enumerated().sorted {
      ($0.element.keyCount, $0.offset) < ($1.element.keyCount, $1.offset)
    }.map(\.element)
    let others = items.filter { $0.keyCount > start + 8 }
    for (i, item) in (ended + others).enumerated() { run[range.lowerBound + i] = item }
    return range.lowerBound + ended.count..<range.upperBound
  }

  /// Returns the number of bytes after `depth` that all keys share.
  private static func sharedPrefix(
    _ run: UnsafeMutableBufferPointer<SortItem>, _ block: ByteView, from depth: Int
  ) -> Int {
    guard let first = run.first else { return 0 }
    var shared = first.keyCount - depth
    let firstKey = block[(first.offset + 8 + depth)...]
    for item in run.dropFirst() {
      let key = block[(item.offset + 8 + depth)...]
      let limit = min(shared, item.keyCount - depth)
      var i = 0
      while i < limit, firstKey[i] == key[i] { i += 1 }
      shared = i
      if shared == 0 { break }
    }
    return max(0, shared)
  }

  /// Returns eight key bytes from `position` in big-endian order, padded with zeros after the end
  /// of the key.
  @inline(__always)
  private static func word(_ item: SortItem, _ block: ByteView, at position: Int) -> UInt64 {
    let left = item.keyCount - position
    guard left > 0 else { return 0 }
    let start = item.offset + 8 + position
    if left >= 8 {
      return UInt64(bigEndian: block.loadUnaligned(fromByteOffset: start, as: UInt64.self))
    }
    var value: UInt64 = 0
    for i in 0..<left { value = value << 8 | UInt64(block[start + i]) }
    return value << UInt64(8 * (8 - left))
  }

  private static func insertionSort(
    _ run: UnsafeMutableBufferPointer<SortItem>, _ block: ByteView, from depth: Int
  ) {
    guard run.count > 1 else { return }
    for i in 1..<run.count {
      let item = run[i]
      var j = i
      while j > 0, isBefore(item, run[j - 1], block, from: depth) {
        run[j] = run[j - 1]
        j -= 1
      }
      run[j] = item
    }
  }

  @inline(__always)
  private static func isBefore(
    _ a: SortItem, _ b: SortItem, _ block: ByteView, from depth: Int
  ) -> Bool {
    let left = a.keyCount
    let right = b.keyCount
    let start = min(depth, left, right)
    let order = compareBytes(
      block.part(from: a.offset + 8 + start, count: left - start),
      block.part(from: b.offset + 8 + start, count: right - start), min(left, right) - start)
    return order != 0 ? order < 0 : left < right
  }
}
