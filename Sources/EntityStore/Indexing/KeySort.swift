/// Sorts index entries by their key bytes.
///
/// Radix sort, least significant byte first, on a window of eight key bytes behind what all keys
/// share; runs with equal windows are sorted again by the next eight bytes. Stable, and linear in
/// the bytes that tell the keys apart, where a comparison sort misses the cache in each comparison.
enum KeySort {
  typealias Entry = EntryArena.Entry

  /// Below this many entries comparing is cheaper than counting.
  private static let smallRun = 64

  static func sort(
    _ entries: UnsafeMutableBufferPointer<Entry>, keysIn block: UnsafeRawPointer,
    scratch: inout EntryRoom
  ) {
    // Explicit stack: the keys decide how deep it gets, at most one level per eight key bytes.
    var pending: [(range: Range<Int>, depth: Int)] = [(0..<entries.count, 0)]
    while let (range, depth) = pending.popLast() {
      if range.count <= smallRun {
        insertionSort(UnsafeMutableBufferPointer(rebasing: entries[range]), block, from: depth)
        continue
      }
      let run = UnsafeMutableBufferPointer(rebasing: entries[range])
      let start = depth + sharedPrefix(run, block, from: depth)
      for i in run.indices { run[i].window = window(run[i], block, at: start) }
      radixSort(run, scratch: &scratch)
      var low = 0
      while low < run.count {
        var high = low + 1
        while high < run.count, run[high].window == run[low].window { high += 1 }
        if high - low > 1 {
          pending.append((range.lowerBound + low..<range.lowerBound + high, start))
          settle(&pending, run, low..<high, start)
        }
        low = high
      }
    }
  }

  /// Entries whose keys end within the window go first, in the order of their lengths; the rest of
  /// the run is sorted from the next window on.
  private static func settle(
    _ pending: inout [(range: Range<Int>, depth: Int)], _ run: UnsafeMutableBufferPointer<Entry>,
    _ range: Range<Int>, _ start: Int
  ) {
    guard let added = pending.popLast() else { return }
    let base = added.range.lowerBound - range.lowerBound
    // Keys that end here are zero-padded in the window: only those can be equal and yet differ.
    let ended = range.filter { Int(run[$0].keyCount) <= start + 8 }
    if ended.isEmpty {
      pending.append((added.range, start + 8))
      return
    }
    let short = ended.map { run[$0] }.enumerated().sorted {
      ($0.element.keyCount, $0.offset) < ($1.element.keyCount, $1.offset)
    }.map(\.element)
    let long = range.lazy.filter { Int(run[$0].keyCount) > start + 8 }.map { run[$0] }
    let ordered = short + Array(long)
    for (i, entry) in ordered.enumerated() { run[range.lowerBound + i] = entry }
    let rest = base + range.lowerBound + short.count..<base + range.upperBound
    if rest.count > 1 { pending.append((rest, start + 8)) }
  }

  /// How many bytes from `depth` on all keys share.
  private static func sharedPrefix(
    _ run: UnsafeMutableBufferPointer<Entry>, _ block: UnsafeRawPointer, from depth: Int
  ) -> Int {
    guard let first = run.first else { return 0 }
    var shared = Int(first.keyCount) - depth
    let firstKey = block + Int(first.offset) + 8 + depth
    for entry in run.dropFirst() {
      let key = block + Int(entry.offset) + 8 + depth
      let limit = min(shared, Int(entry.keyCount) - depth)
      var i = 0
      while i < limit,
        firstKey.load(fromByteOffset: i, as: UInt8.self)
          == key.load(fromByteOffset: i, as: UInt8.self)
      { i += 1 }
      shared = i
      if shared == 0 { break }
    }
    return max(0, shared)
  }

  /// Eight key bytes from `position` on, big-endian, with zeros behind the key's end.
  @inline(__always)
  private static func window(
    _ entry: Entry, _ block: UnsafeRawPointer, at position: Int
  ) -> UInt64 {
    let left = Int(entry.keyCount) - position
    guard left > 0 else { return 0 }
    let start = Int(entry.offset) + 8 + position
    if left >= 8 {
      return UInt64(bigEndian: block.loadUnaligned(fromByteOffset: start, as: UInt64.self))
    }
    var value: UInt64 = 0
    for i in 0..<left {
      value = value << 8 | UInt64(block.load(fromByteOffset: start + i, as: UInt8.self))
    }
    return value << UInt64(8 * (8 - left))
  }

  /// Sorts by the windows alone; those with equal ones keep their order.
  static func radixSort(
    _ run: UnsafeMutableBufferPointer<Entry>, scratch: inout EntryRoom
  ) {
    // Each place is written before it is read.
    scratch.reserve(run.count)
    // One pass over the data counts all eight digits; a digit on which all keys agree is skipped.
    var counts = [Int](repeating: 0, count: 8 * 256)
    counts.withUnsafeMutableBufferPointer { counts in
      for entry in run {
        var word = entry.window
        for digit in 0..<8 {
          counts[digit &* 256 &+ Int(truncatingIfNeeded: word & 0xff)] &+= 1
          word >>= 8
        }
      }
      var source = run
      var target = UnsafeMutableBufferPointer(start: scratch.start, count: run.count)
      for digit in 0..<8 {
        let histogram = UnsafeMutableBufferPointer(
          rebasing: counts[digit * 256..<(digit + 1) * 256])
        if histogram.contains(run.count) { continue }
        var sum = 0
        for value in 0..<256 {
          let count = histogram[value]
          histogram[value] = sum
          sum += count
        }
        let shift = UInt64(digit * 8)
        for entry in source {
          let value = Int(truncatingIfNeeded: (entry.window >> shift) & 0xff)
          target[histogram[value]] = entry
          histogram[value] &+= 1
        }
        swap(&source, &target)
      }
      if source.baseAddress != run.baseAddress {
        for i in 0..<run.count { run[i] = source[i] }
      }
    }
  }

  private static func insertionSort(
    _ run: UnsafeMutableBufferPointer<Entry>, _ block: UnsafeRawPointer, from depth: Int
  ) {
    guard run.count > 1 else { return }
    for i in 1..<run.count {
      let entry = run[i]
      var j = i
      while j > 0, isBefore(entry, run[j - 1], block, from: depth) {
        run[j] = run[j - 1]
        j -= 1
      }
      run[j] = entry
    }
  }

  @inline(__always)
  private static func isBefore(
    _ a: Entry, _ b: Entry, _ block: UnsafeRawPointer, from depth: Int
  ) -> Bool {
    let left = Int(a.keyCount)
    let right = Int(b.keyCount)
    let start = min(depth, left, right)
    let order = compareBytes(
      block + Int(a.offset) + 8 + start, block + Int(b.offset) + 8 + start,
      min(left, right) - start)
    return order != 0 ? order < 0 : left < right
  }
}

/// Negative, zero or positive, as the first differing byte decides.
@inline(__always)
func compareBytes(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ count: Int) -> Int {
  var i = 0
  while i + 8 <= count {
    let x = a.loadUnaligned(fromByteOffset: i, as: UInt64.self)
    let y = b.loadUnaligned(fromByteOffset: i, as: UInt64.self)
    if x != y { return x.bigEndian < y.bigEndian ? -1 : 1 }
    i += 8
  }
  while i < count {
    let x = a.load(fromByteOffset: i, as: UInt8.self)
    let y = b.load(fromByteOffset: i, as: UInt8.self)
    if x != y { return x < y ? -1 : 1 }
    i += 1
  }
  return 0
}

/// The same for two keys, the shorter first when one begins the other.
@inline(__always)
func compareKeys(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
  guard let left = a.baseAddress, let right = b.baseAddress else { return a.count - b.count }
  let order = compareBytes(left, right, min(a.count, b.count))
  return order != 0 ? order : a.count - b.count
}
