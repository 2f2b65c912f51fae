internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Entries of one index in memory, as the bytes of their keys with record ids.
///
/// The entries are written in key order, so that each page of the index is visited once instead of
/// once for each entry. For a million random keys, sorting and writing are together three times as
/// fast as writing without a sort. The bytes of a key are copied once and never move; sorting moves
/// items of 16 bytes.
///
/// The type is a class, since neither arrays nor enumerations with other references can hold
/// non-copyable values. Only one thread uses an object. An exclusivity check for each access would
/// slow every batch.
final class KeyEntries {
  /// The maximum size in bytes of the block that holds all entries.
  ///
  /// Offsets have 32 bits, so a caller must write the entries before the block grows beyond this.
  static let largestByteCount = 1 << 31

  /// The bytes of all entries: for each entry a record id as u64, followed by the key.
  @exclusivity(unchecked) private var block: UnsafeMutableRawPointer
  @exclusivity(unchecked) private var capacity: Int
  @exclusivity(unchecked) private(set) var byteCount = 0
  /// The items of the entries: in the order in which they were added, or in key order after
  /// ``sort()``.
  ///
  /// The extension of ``SortItem`` describes their content.
  @exclusivity(unchecked) private var buffer: SortBuffer
  @exclusivity(unchecked) private(set) var count = 0

  init(expectedCount: Int) {
    capacity = max(4096, min(expectedCount, 1 << 20) * 48)
    block = LargeMemory.allocate(byteCount: capacity)
    buffer = SortBuffer(capacity: max(64, min(expectedCount, 1 << 24)))
  }

  deinit { block.deallocate() }

  // MARK: Adding

  /// Appends an entry with a copy of `key`.
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
      // The capacity is limited, so that an offset always fits into 32 bits.
      let larger = min(max(needed, capacity * 2), 1 << 32)
      let moved = LargeMemory.allocate(byteCount: larger)
      moved.copyMemory(from: block, byteCount: byteCount)
      block.deallocate()
      block = moved
      capacity = larger
    }
    if count == buffer.capacity { buffer.grow(keeping: count) }
  }

  /// Removes all entries and keeps the memory.
  func removeAll() {
    byteCount = 0
    count = 0
  }

  /// The memory that the entries take, including the memory to sort them.
  @inline(__always)
  var memoryToSort: Int { byteCount &+ count &* 2 &* MemoryLayout<SortItem>.stride }

  /// Sorts the entries by key bytes; equal keys keep their order.
  func sort() {
    var scratch = SortBuffer()
    Self.sort(
      buffer.items(count), keysIn: ByteView(start: block, count: byteCount), scratch: &scratch)
    assert((0..<count).dropFirst().allSatisfy { compareKeys(key(at: $0 - 1), key(at: $0)) <= 0 })
  }

  /// Visits the entries whose key is already in the index, in one pass in key order, until `body`
  /// returns false.
  func forEachExistingKey(
    in index: StoredIndex, core: TransactionCore,
    _ body: (_ index: Int, _ holder: UInt64) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try wrappingErrors {
      var holders = try UniqueKeyHolders(in: index, core: core)
      for entry in 0..<count where !holders.isOver {
        prefetch(ahead: entry)
        if let holder = try holders.holder(of: key(at: entry)) {
          guard try body(entry, holder) else { return }
        }
      }
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
    // After the sort, equal keys are neighbors. Equal keys stayed in one run until the end of the
    // sort, so their words come from the same bytes. Different words show that the keys differ,
    // without reading the keys, which are scattered in memory.
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

/// An item of ``KeyEntries``.
///
/// The word is eight bytes of the key in big-endian order, set by the sort. The payload is the
/// offset of the entry in the block and the number of bytes of its key, 32 bits each.
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
