internal import LodestoreBytes
internal import LodestoreFormat

/// Postings of one term in memory, in the order of ids.
struct PostingBuffer: ~Copyable {
  private(set) var count = 0
  private(set) var ids: OwnedBytes
  private(set) var frequencies: OwnedBytes
  /// The indices in ``positions`` at which the positions of each posting end.
  private(set) var ends: OwnedBytes
  /// The numbers of the positions, see ``PositionNumbers``.
  var positions: [UInt32] = []
  private var capacity: Int

  init(capacity: Int = 256) {
    self.capacity = capacity
    ids = OwnedBytes(byteCount: capacity * 8, alignment: 8)
    frequencies = OwnedBytes(byteCount: capacity * 4, alignment: 8)
    ends = OwnedBytes(byteCount: capacity * 4, alignment: 8)
  }

  mutating func removeAll() {
    count = 0
    positions.removeAll(keepingCapacity: true)
  }

  @inline(__always)
  func id(_ index: Int) -> UInt64 {
    ids.view.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self)
  }

  @inline(__always)
  func frequency(_ index: Int) -> UInt32 {
    frequencies.view.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self)
  }

  /// The index at which the positions of the posting at `index` end; 0 for the index -1.
  @inline(__always)
  func end(_ index: Int) -> Int {
    index < 0 ? 0 : Int(ends.view.loadUnaligned(fromByteOffset: index &* 4, as: UInt32.self))
  }

  /// Appends a posting whose positions are the numbers that were appended to ``positions`` since
  /// the last posting.
  @inline(__always)
  mutating func append(id: UInt64, frequency: UInt32) {
    if count == capacity { grow() }
    ids.view.storeBytes(of: id, toByteOffset: count &* 8, as: UInt64.self)
    frequencies.view.storeBytes(of: frequency, toByteOffset: count &* 4, as: UInt32.self)
    ends.view.storeBytes(
      of: UInt32(clamping: positions.count), toByteOffset: count &* 4, as: UInt32.self)
    count &+= 1
  }

  /// Appends a range of the postings of another buffer.
  mutating func append(_ other: borrowing PostingBuffer, _ range: Range<Int>) {
    if range.isEmpty { return }
    while count + range.count > capacity { grow() }
    func copy(_ from: MutableByteView, _ to: MutableByteView, _ size: Int) {
      to.part(from: count * size, count: range.count * size).copyMemory(
        from: ByteView(from.part(from: range.lowerBound * size, count: range.count * size)))
    }
    copy(other.ids.view, ids.view, 8)
    copy(other.frequencies.view, frequencies.view, 4)
    let start = other.end(range.lowerBound - 1)
    let distance = positions.count - start
    for index in range {
      ends.view.storeBytes(
        of: UInt32(clamping: other.end(index) + distance),
        toByteOffset: (count + index - range.lowerBound) &* 4, as: UInt32.self)
    }
    positions.append(contentsOf: other.positions[start..<other.end(range.upperBound - 1)])
    count += range.count
  }

  @inline(never)
  private mutating func grow() {
    func larger(_ old: borrowing OwnedBytes, _ size: Int) -> OwnedBytes {
      let new = OwnedBytes(byteCount: capacity * 2 * size, alignment: 8)
      new.view.part(from: 0, count: capacity * size).copyMemory(from: ByteView(old.view))
      return new
    }
    ids = larger(ids, 8)
    frequencies = larger(frequencies, 4)
    ends = larger(ends, 4)
    capacity *= 2
  }

  /// Replaces the content by that of a stored block.
  mutating func read(_ block: PostingBlock) throws(FormatError) {
    removeAll()
    try block.readIDs(into: ids.view)
    block.readFrequencies(into: frequencies.view)
    count = block.count
    let all = try block.readPositionEnds(into: ends.view)
    var start = 0
    for index in 0..<count {
      let end = end(index)
      var numbers = try all.part(from: start, to: end)
      while !numbers.isAtEnd { positions.append(UInt32(clamping: try numbers.next())) }
      // The end of varints is an offset of bytes.
      ends.view.storeBytes(
        of: UInt32(clamping: positions.count), toByteOffset: index &* 4, as: UInt32.self)
      start = end
    }
  }
}
