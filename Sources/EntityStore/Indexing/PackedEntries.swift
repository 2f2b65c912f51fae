/// Sorted entries that stand for numbers, a word each: how far the number is from the lowest, and how
/// far the record id is from the first.
///
/// Dates of a few years and the ids of one batch have so many bits in common that what tells them
/// apart mostly fits a word. It is sorted in half of the memory that the entries had, with the other
/// half as the second list that a radix sort needs.
struct PackedEntries {
  private let words: UnsafeMutableRawPointer
  private let lowest: UInt64
  /// Below this bit all numbers are alike.
  private let shift: UInt64
  private let firstID: UInt64
  /// The lowest bits of a word are the record id.
  private let idBits: UInt64

  /// Packs `entries`, whose record ids ascend, in their own memory, and sorts them by their numbers;
  /// `nil`, with nothing done, where they do not fit.
  init?(packing entries: UnsafeMutableBufferPointer<EntryArena.Entry>) {
    guard entries.count > 1, let base = entries.baseAddress else { return nil }
    firstID = entries[0].number
    idBits = Self.bits(entries[entries.count - 1].number &- firstID)
    let first = entries[0].window
    var lowest = first
    var highest = first
    var differing: UInt64 = 0
    for entry in entries {
      lowest = min(lowest, entry.window)
      highest = max(highest, entry.window)
      differing |= entry.window ^ first
    }
    self.lowest = lowest
    shift = differing == 0 ? 0 : UInt64(differing.trailingZeroBitCount)
    let numberBits = Self.bits((highest &- lowest) >> shift)
    guard numberBits + idBits <= 64, idBits < 64 else { return nil }
    words = UnsafeMutableRawPointer(base)
    let digitCount = Int(numberBits + 7) / 8
    withUnsafeTemporaryAllocation(of: Int.self, capacity: max(1, digitCount) * 256) { counts in
      counts.initialize(repeating: 0)
      pack(entries, counting: counts, digitCount)
      sort(entries.count, counts, digitCount)
    }
  }

  private static func bits(_ number: UInt64) -> UInt64 { UInt64(64 - number.leadingZeroBitCount) }

  private func pack(
    _ entries: UnsafeMutableBufferPointer<EntryArena.Entry>,
    counting counts: UnsafeMutableBufferPointer<Int>, _ digitCount: Int
  ) {
    for place in entries.indices {
      let entry = entries[place]
      var number = (entry.window &- lowest) &>> shift
      let word = number &<< idBits | (entry.number &- firstID)
      // Two words lie where an entry did, so that none is overwritten before it is read.
      words.storeBytes(of: word, toByteOffset: place &* 8, as: UInt64.self)
      for digit in 0..<digitCount {
        counts[digit &* 256 &+ Int(truncatingIfNeeded: number & 0xff)] &+= 1
        number &>>= 8
      }
    }
  }

  /// Radix sort, least significant byte of the numbers first: equal ones keep the order of their ids.
  private func sort(
    _ count: Int, _ counts: UnsafeMutableBufferPointer<Int>, _ digitCount: Int
  ) {
    var source = words
    var target = words + count * 8
    for digit in 0..<digitCount {
      let histogram = UnsafeMutableBufferPointer(
        rebasing: counts[digit * 256..<(digit + 1) * 256])
      if histogram.contains(count) { continue }
      var sum = 0
      for value in histogram.indices {
        let count = histogram[value]
        histogram[value] = sum
        sum += count
      }
      let shift = idBits &+ UInt64(digit * 8)
      for place in 0..<count {
        let word = source.load(fromByteOffset: place &* 8, as: UInt64.self)
        let value = Int(truncatingIfNeeded: (word &>> shift) & 0xff)
        target.storeBytes(of: word, toByteOffset: histogram[value] &* 8, as: UInt64.self)
        histogram[value] &+= 1
      }
      swap(&source, &target)
    }
    if source != words { words.copyMemory(from: source, byteCount: count * 8) }
  }

  @inline(__always)
  subscript(place: Int) -> EntryArena.Entry {
    let word = words.load(fromByteOffset: place &* 8, as: UInt64.self)
    let id = word & ~(UInt64.max &<< idBits)
    return EntryArena.Entry(
      window: (word &>> idBits) &<< shift &+ lowest, number: id &+ firstID)
  }
}
