internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Entries of one index in memory, as the bytes of their keys with the record ids.
///
/// Written in key order they visit each page of the index once instead of once per entry; on a million
/// random keys that is three times faster, sort included. The bytes of a key are copied in as they come
/// and stay where they are; sorting moves only items of 16 bytes.
///
/// A class, as neither arrays nor enumerations with other references can hold non-copyable values. Its
/// fields are of one thread; a check of each access would show in every batch.
final class KeyEntries {
  /// Offsets are 32 bits: a caller flushes before the block of bytes grows beyond this.
  static let largestByteCount = 1 << 31

  /// For each entry: u64 record id, key bytes.
  @exclusivity(unchecked) private var block: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var capacity: Int
  @exclusivity(unchecked) private(set) var byteCount = 0
  /// In the order in which the entries were added, or of their keys after ``sort()``; see ``SortItem``'s
  /// extension for what they hold.
  @exclusivity(unchecked) private var buffer: SortBuffer
  @exclusivity(unchecked) private(set) var count = 0

  init(expectedCount: Int) {
    capacity = max(4096, min(expectedCount, 1 << 20) * 48)
    block = LargeMemory.allocate(byteCount: capacity)
    buffer = SortBuffer(capacity: max(64, min(expectedCount, 1 << 24)))
  }

  deinit { block.deallocate() }

  // MARK: Adding

  /// Adds an entry; copies `key`.
  @inline(__always)
  func append(key: ByteView, recordID: UInt64) {
    let needed = byteCount &+ 8 &+ key.count
    if needed > capacity || count == buffer.capacity { grow(needed) }
    let start = block + byteCount
    start.storeBytes(of: recordID, as: UInt64.self)
    if let source = key.baseAddress { (start + 8).copyMemory(from: source, byteCount: key.count) }
    (buffer.start + count).initialize(to: SortItem(offset: byteCount, keyCount: key.count))
    count &+= 1
    byteCount = needed
  }

  @inline(never)
  private func grow(_ needed: Int) {
    precondition(needed <= 1 << 32, "index entries of one step need more than 4 GiB")
    if needed > capacity {
      // Never so large that an offset would not fit its 32 bits.
      let larger = min(max(needed, capacity * 2), 1 << 32)
      let moved = LargeMemory.allocate(byteCount: larger)
      moved.copyMemory(from: block, byteCount: byteCount)
      block.deallocate()
      block = moved
      capacity = larger
    }
    if count == buffer.capacity { buffer.grow(keeping: count) }
  }

  /// Removes all entries, and keeps the memory for others.
  func removeAll() {
    byteCount = 0
    count = 0
  }

  /// What the entries and the sorting of them take.
  @inline(__always)
  var memoryToSort: Int { byteCount &+ count &* 2 &* MemoryLayout<SortItem>.stride }

  /// Sorts by key bytes; equal keys keep the order in which they were added.
  func sort() {
    var scratch = SortBuffer()
    Self.sort(
      buffer.items(count), keysIn: ByteView(start: block, count: byteCount), scratch: &scratch)
    assert((0..<count).dropFirst().allSatisfy { compareKeys(key(at: $0 - 1), key(at: $0)) <= 0 })
  }

  /// Visits the entries whose key is in the index already, in one pass in key order, until `body`
  /// returns false.
  func eachHeld(
    in index: StoredIndex, core: TransactionCore,
    _ body: (_ index: Int, _ holder: UInt64) throws(StoreError) -> Bool
  ) throws(StoreError) {
    do {
      var held = try HeldKeys(in: index, core: core)
      for entry in 0..<count where !held.isOver {
        prefetch(ahead: entry)
        if let holder = try held.holder(of: key(at: entry)) {
          guard try body(entry, holder) else { return }
        }
      }
    } catch {
      throw StoreError(wrapping: error)
    }
  }
}

extension KeyEntries: RandomAccessEntries {
  @inline(__always)
  func key(at index: Int) -> ByteView {
    let item = buffer.start[index]
    return ByteView(start: block + item.offset + 8, count: item.keyCount)
  }

  @inline(__always)
  func recordID(at index: Int) -> UInt64 {
    block.loadUnaligned(fromByteOffset: buffer.start[index].offset, as: UInt64.self)
  }

  func isRepeated(at index: Int) -> Bool {
    let item = buffer.start[index]
    let before = buffer.start[index - 1]
    // Equal keys were in one run until the end of the sort, so that their words are of the same bytes;
    // the keys themselves lie anywhere in memory.
    return item.keyCount == before.keyCount && item.word == before.word
      && compareKeys(key(at: index), key(at: index - 1)) == 0
  }

  @inline(__always)
  func prefetch(ahead index: Int) {
    let later = index &+ 12
    guard later < count else { return }
    let item = buffer.start[later]
    LMDB.prefetch(block + item.offset, byteCount: 8 &+ item.keyCount)
  }

  @inline(__always)
  func isAbove(_ index: Int, _ other: KeyEntries, at otherIndex: Int) -> Bool {
    compareKeys(key(at: index), other.key(at: otherIndex)) > 0
  }
}

/// An item of ``KeyEntries``: the word is eight bytes of the key, big-endian, set by the sort; the payload
/// is where the entry begins in the block and how many bytes its key has, 32 bits each.
extension SortItem {
  @inline(__always)
  init(offset: Int, keyCount: Int) {
    self.init(
      word: 0,
      payload: UInt64(UInt32(truncatingIfNeeded: offset))
        | UInt64(truncatingIfNeeded: keyCount) &<< 32)
  }

  @inline(__always)
  var offset: Int { Int(UInt32(truncatingIfNeeded: payload)) }

  @inline(__always)
  var keyCount: Int { Int(truncatingIfNeeded: payload &>> 32) }
}
