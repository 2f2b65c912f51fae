/// Sorted numbers with their record ids, each packed into one word.
///
/// A word contains the number's difference from the lowest number and the id's difference from the
/// first id. Dates of a few years, and ids of one batch, share enough bits that both differences
/// usually fit into a word. The words are sorted in half of the items' memory, and the other half
/// is the second list of the radix sort.
struct PackedNumbers {
  private let words: UnsafeMutableRawPointer
  private let lowest: UInt64
  /// The number of low bits that are equal in all numbers, and are left out of the words.
  private let shift: UInt64
  private let firstID: UInt64
  /// The number of low bits of a word that hold the record id.
  private let idBits: UInt64

  /// Packs `items` in their own memory, and sorts them by their words; `nil`, without changing
  /// them, if they cannot be packed.
  ///
  /// The items must have ascending record ids.
  init?(packing items: UnsafeMutableBufferPointer<SortItem>) {
    guard items.count > 1, let base = items.baseAddress else { return nil }
    firstID = items[0].payload
    idBits = Self.bits(items[items.count - 1].payload &- firstID)
    let first = items[0].word
    var lowest = first
    var highest = first
    var differing: UInt64 = 0
    for item in items {
      lowest = min(lowest, item.word)
      highest = max(highest, item.word)
      differing |= item.word ^ first
    }
    self.lowest = lowest
    shift = differing == 0 ? 0 : UInt64(differing.trailingZeroBitCount)
    let numberBits = Self.bits((highest &- lowest) >> shift)
    guard numberBits + idBits <= 64, idBits < 64 else { return nil }
    words = UnsafeMutableRawPointer(base)
    let digitCount = Int(numberBits + 7) / 8
    RadixSort.withCounts(digitCount: digitCount) { counts in
      pack(items, counting: counts, digitCount)
      sort(items.count, counts, digitCount)
    }
  }

  private static func bits(_ number: UInt64) -> UInt64 { UInt64(64 - number.leadingZeroBitCount) }

  private func pack(
    _ items: UnsafeMutableBufferPointer<SortItem>,
    counting counts: UnsafeMutableBufferPointer<Int>, _ digitCount: Int
  ) {
    for index in items.indices {
      let item = items[index]
      let number = (item.word &- lowest) &>> shift
      let word = number &<< idBits | (item.payload &- firstID)
      // A packed word takes half the memory of an item, so no item is overwritten before it is
      // read.
      words.storeBytes(of: word, toByteOffset: index &* 8, as: UInt64.self)
      RadixSort.count(number, in: counts, digitCount: digitCount)
    }
  }

  /// Sorts by the numbers; equal numbers keep the order of their ids.
  private func sort(_ count: Int, _ counts: UnsafeMutableBufferPointer<Int>, _ digitCount: Int) {
    let start = words.bindMemory(to: UInt64.self, capacity: count * 2)
    let list = UnsafeMutableBufferPointer(start: start, count: count)
    let scratch = UnsafeMutableBufferPointer(start: start + count, count: count)
    let isInScratch = RadixSort.distribute(
      list, scratch: scratch, counts: counts, digitCount: digitCount, lowestBit: idBits,
      by: { $0 }, tick: {})
    if isInScratch { _ = list.update(fromContentsOf: scratch) }
    words.bindMemory(to: SortItem.self, capacity: count)
  }

  @inline(__always)
  subscript(index: Int) -> SortItem {
    let word = words.load(fromByteOffset: index &* 8, as: UInt64.self)
    let id = word & ~(UInt64.max &<< idBits)
    return SortItem(
      word: (word &>> idBits) &<< shift &+ lowest, payload: id &+ firstID)
  }
}
