internal import LodestoreBytes
internal import LodestoreFormat

/// Consecutive records in one block of memory, with their ids and room for their checksums.
///
/// A buffer holds as many records as stay in the processor's cache while they are written and their
/// keys are collected.
@usableFromInline
struct RecordBuffer: ~Copyable {
  private(set) var base: UnsafeMutableRawPointer
  private var capacity: Int
  @usableFromInline var ends: [Int] = []
  /// The ids of the records; empty when the ids are consecutive from `firstID`.
  private var ids: [UInt64] = []
  private var firstID: UInt64 = 0
  private var byteCount = 0
  /// The uses of the memory; each change of the records is one.
  private let uses = MemoryUses()

  /// The size of a buffer that stays in the processor's cache while it is used.
  @usableFromInline static var usualByteCount: Int { 1 << 15 }

  /// The initial memory in bytes: the usual size, and room for the last record, which exceeds that
  /// size.
  static let memorySize = usualByteCount + 4096

  init(byteCount: Int) {
    capacity = byteCount
    base = .allocate(byteCount: byteCount, alignment: 16)
  }

  deinit {
    uses.beginNext()
    base.deallocate()
  }

  @inline(__always)
  var count: Int { ends.count }

  /// The bytes of all records; valid until the next change.
  @inline(__always)
  var bytes: ByteView { ByteView(start: base, count: byteCount) }

  /// Swaps this buffer's memory with a writer's, whose records end at the offsets in ``ends``.
  mutating func swapMemory(
    _ other: inout UnsafeMutableRawPointer, _ otherCapacity: inout Int, byteCount: Int
  ) {
    uses.beginNext()
    swap(&base, &other)
    swap(&capacity, &otherCapacity)
    self.byteCount = byteCount
    checkInvariants()
  }

  /// Returns whether a record with `contentCount` bytes of content does not fit.
  func isFull(for contentCount: Int) -> Bool {
    byteCount + contentCount + RecordLayout.checksumSize > capacity
  }

  /// Appends a copy of `content`, growing the memory when needed.
  mutating func append(_ content: ByteView, id: UInt64) {
    uses.beginNext()
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
    checkInvariants()
  }

  /// Asserts that the records fill the used memory, and that either all or none have their own ids.
  @inline(__always)
  private func checkInvariants() {
    assert(byteCount <= capacity && (ends.last ?? 0) == byteCount, "records fill the used memory")
    assert(ids.isEmpty || ids.count == ends.count, "all records have ids of their own, or none")
  }

  /// Assigns consecutive ids to the records, starting with `first`.
  mutating func giveIDs(from first: UInt64) {
    ids.removeAll(keepingCapacity: true)
    firstID = first
  }

  /// Calls `body` with the offset from ``base`` at which each record ends.
  @inline(__always)
  func withEnds<R>(_ body: (UnsafeBufferPointer<Int>) throws -> R) rethrows -> R {
    try ends.withUnsafeBufferPointer(body)
  }

  @inline(__always)
  func id(at index: Int) -> UInt64 { ids.isEmpty ? firstID &+ UInt64(index) : ids[index] }

  /// The record at `index`; valid until the next change.
  @inline(__always)
  subscript(index: Int) -> UnsealedRecord {
    let start = index == 0 ? 0 : ends[index - 1]
    let bytes = MutableByteView(start: base + start, count: ends[index] - start)
    return UnsealedRecord(bytes, uses.current)
  }

  mutating func removeAll() {
    uses.beginNext()
    byteCount = 0
    ends.removeAll(keepingCapacity: true)
    ids.removeAll(keepingCapacity: true)
  }
}
