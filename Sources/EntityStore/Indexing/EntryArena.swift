internal import LMDB

/// Index entries of many records of one index, kept as bytes in one block and sorted by key.
///
/// Writing entries in key order visits each page of the index once instead of once per entry; on a
/// million random keys that is three times faster, sort included. The bytes of a key are copied in
/// as they come; sorting moves only 16-byte references.
struct EntryArena: ~Copyable {
  /// Where an entry's key is, with the part of it that decides most comparisons.
  struct Entry {
    /// Eight bytes of the key, big-endian, so that integers order like bytes.
    var window: UInt64
    /// Offset into the block of: u64 record id, key bytes.
    var offset: UInt32
    var keyCount: UInt32
  }

  /// Offsets are 32 bits: a caller flushes before a block grows beyond this.
  static let largestByteCount = 1 << 31

  private var base: UnsafeMutableRawPointer
  private var capacity: Int
  private(set) var byteCount = 0
  private var room: EntryRoom
  private(set) var count = 0

  init(expectedCount: Int) {
    capacity = max(4096, min(expectedCount, 1 << 20) * 48)
    base = LargeMemory.allocate(byteCount: capacity)
    room = EntryRoom(capacity: max(64, min(expectedCount, 1 << 24)))
  }

  deinit { base.deallocate() }

  private var list: UnsafeMutablePointer<Entry> { room.start }

  /// In the order in which they were added, or of their keys after ``sort()``; valid until the next
  /// change.
  var entries: UnsafeBufferPointer<Entry> { UnsafeBufferPointer(start: list, count: count) }

  /// Adds an entry; copies `key`.
  @inline(__always)
  mutating func append(key: UnsafeRawBufferPointer, recordID: UInt64) {
    let needed = byteCount &+ 8 &+ key.count
    if needed > capacity || count == room.capacity { grow(needed) }
    let start = base + byteCount
    start.storeBytes(of: recordID, as: UInt64.self)
    if let source = key.baseAddress { (start + 8).copyMemory(from: source, byteCount: key.count) }
    (list + count).initialize(
      to: Entry(
        window: 0, offset: UInt32(truncatingIfNeeded: byteCount),
        keyCount: UInt32(truncatingIfNeeded: key.count)))
    count &+= 1
    byteCount = needed
  }

  @inline(never)
  private mutating func grow(_ needed: Int) {
    precondition(needed <= 1 << 32, "index entries of one step need more than 4 GiB")
    if needed > capacity {
      // Never so large that an offset would not fit its 32 bits.
      let larger = min(max(needed, capacity * 2), 1 << 32)
      let moved = LargeMemory.allocate(byteCount: larger)
      moved.copyMemory(from: base, byteCount: byteCount)
      base.deallocate()
      base = moved
      capacity = larger
    }
    if count == room.capacity { room.grow(keeping: count) }
  }

  mutating func removeAll() {
    byteCount = 0
    count = 0
  }

  @inline(__always)
  func key(_ entry: Entry) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + Int(entry.offset) + 8, count: Int(entry.keyCount))
  }

  @inline(__always)
  func recordID(_ entry: Entry) -> UInt64 {
    base.loadUnaligned(fromByteOffset: Int(entry.offset), as: UInt64.self)
  }

  /// Has the sorted entry so many behind `place` fetched into the cache, where there is one.
  @inline(__always)
  func fetchAhead(of place: Int) {
    let place = place &+ 12
    guard place < count else { return }
    let entry = list[place]
    prefetch(base + Int(entry.offset), byteCount: 8 &+ Int(entry.keyCount))
  }

  /// Sorts by key bytes; equal keys keep the order in which they were added.
  mutating func sort() {
    var scratch = EntryRoom()
    KeySort.sort(
      UnsafeMutableBufferPointer(start: list, count: count), keysIn: UnsafeRawPointer(base),
      scratch: &scratch)
  }
}
