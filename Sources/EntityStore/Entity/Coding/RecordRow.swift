internal import LodestoreFormat

/// Records in one block of memory, with their ids and room for their checksums: so many as stay in the
/// cache while they are written and their keys are collected.
@usableFromInline
struct RecordRow: ~Copyable {
  private(set) var base: UnsafeMutableRawPointer
  private var capacity: Int
  @usableFromInline var ends: [Int] = []
  /// Empty where ids were given to all at once.
  private var ids: [UInt64] = []
  private var firstID: UInt64 = 0
  private var byteCount = 0

  /// So many bytes stay in the cache.
  @usableFromInline static var usualByteCount: Int { 1 << 15 }

  /// Room for them, and for the record with which they become more.
  static let memorySize = usualByteCount + 4096

  init(byteCount: Int) {
    capacity = byteCount
    base = .allocate(byteCount: byteCount, alignment: 16)
  }

  deinit { base.deallocate() }

  @inline(__always)
  var count: Int { ends.count }

  /// Takes records that end at ``ends`` in other memory, and gives its own for it.
  mutating func swapMemory(
    _ other: inout UnsafeMutableRawPointer, _ otherCapacity: inout Int, byteCount: Int
  ) {
    swap(&base, &other)
    swap(&capacity, &otherCapacity)
    self.byteCount = byteCount
  }

  /// Whether a record with such a content does not fit any more.
  func isFull(for contentCount: Int) -> Bool {
    byteCount + contentCount + RecordLayout.checksumSize > capacity
  }

  /// Copies `content`, making room where there is none.
  mutating func append(_ content: UnsafeRawBufferPointer, id: UInt64) {
    let end = byteCount + content.count + RecordLayout.checksumSize
    if end > capacity {
      let moved = UnsafeMutableRawPointer.allocate(byteCount: end, alignment: 16)
      moved.copyMemory(from: base, byteCount: byteCount)
      base.deallocate()
      base = moved
      capacity = end
    }
    if let source = content.baseAddress {
      (base + byteCount).copyMemory(from: source, byteCount: content.count)
    }
    byteCount = end
    ends.append(end)
    ids.append(id)
  }

  /// Gives the records ids: `first` and what follows it.
  mutating func giveIDs(from first: UInt64) {
    ids.removeAll(keepingCapacity: true)
    firstID = first
  }

  /// Where each record ends, of which the first begins at ``base``; valid until the next change.
  @inline(__always)
  func withEnds<R>(_ body: (UnsafeBufferPointer<Int>) throws -> R) rethrows -> R {
    try ends.withUnsafeBufferPointer(body)
  }

  @inline(__always)
  func id(at place: Int) -> UInt64 { ids.isEmpty ? firstID &+ UInt64(place) : ids[place] }

  /// The record at `place`; valid until the next change.
  @inline(__always)
  subscript(place: Int) -> UnsafeMutableRawBufferPointer {
    let start = place == 0 ? 0 : ends[place - 1]
    return UnsafeMutableRawBufferPointer(start: base + start, count: ends[place] - start)
  }

  mutating func removeAll() {
    byteCount = 0
    ends.removeAll(keepingCapacity: true)
    ids.removeAll(keepingCapacity: true)
  }
}
