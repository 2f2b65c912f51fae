internal import LodestoreBytes
internal import LodestoreFormat

/// Entries in memory of an index over one number, date or Boolean, each as a record id and a word.
///
/// Words are ordered like the keys of the index.
///
/// A key is encoded when it is written, and writing reads the list in order. Keys encoded earlier
/// would lie in the order of the records. Fetching a million of them from memory took as long as
/// writing them with LMDB.
final class NumberEntries {
  private let slot: WordSlot
  private let isUnique: Bool
  /// The entries with a value: their words, with the record ids as payloads.
  // Only one thread uses the object. An exclusivity check for each access would slow every batch.
  @exclusivity(unchecked) private var buffer: SortBuffer
  @exclusivity(unchecked) private var itemCount = 0
  /// The sorted items in packed form, if they can be packed.
  @exclusivity(unchecked) private var packed: PackedNumbers?
  /// The ids of the records without a value, in ascending order.
  @exclusivity(unchecked) private var nulls: [UInt64] = []
  /// The last key returned by ``key(at:)``.
  @exclusivity(unchecked) private var key = KeyEncoder()

  /// Creates an empty list; `nil` for an index that is not over one number.
  init?(_ index: StoredIndex, of entity: StoredEntity, expectedCount: Int) {
    let attributes = index.description.attributes
    guard attributes.count == 1, let place = entity.layout.slotIndex(ofAttribute: attributes[0]),
      let slot = WordSlot(entity.layout.slots[place])
    else { return nil }
    self.slot = slot
    isUnique = index.isUnique
    buffer = SortBuffer(capacity: max(64, min(expectedCount, 1 << 24)))
  }

  @inline(__always)
  private func item(_ index: Int) -> SortItem { packed.map { $0[index] } ?? buffer.start[index] }

  /// Appends the entries of `records`, which must have the current layout and higher ids than all
  /// earlier ones.
  func append(_ records: borrowing RecordBuffer) {
    let bytes = records.bytes
    var start = 0
    for index in 0..<records.count {
      let end = records.ends[index]
      append(
        word(of: bytes.part(from: start, count: end &- start)), recordID: records.id(at: index))
      start = end
    }
  }

  /// Returns the word of a record of the current layout, or `nil` for null.
  @inline(__always)
  func word(of record: ByteView) -> UInt64? { slot.word(record) }

  /// Appends the entry of a record, whose id must be higher than all earlier ones.
  @inline(__always)
  func append(_ word: UInt64?, recordID: UInt64) {
    guard let word else {
      assert(nulls.last.map { $0 < recordID } ?? true)
      nulls.append(recordID)
      return
    }
    assert(itemCount == 0 || buffer.start[itemCount - 1].payload < recordID)
    if itemCount == buffer.capacity { buffer.grow(keeping: itemCount) }
    (buffer.start + itemCount).initialize(to: SortItem(word: word, payload: recordID))
    itemCount &+= 1
  }

  /// The memory that the entries take, including the memory to sort them.
  var memoryToSort: Int { itemCount * 2 * MemoryLayout<SortItem>.stride + nulls.count * 8 }

  func removeAll() {
    itemCount = 0
    packed = nil
    nulls.removeAll(keepingCapacity: true)
  }

  /// Sorts the entries.
  ///
  /// Entries of the same number stay in the order of their ids, as their keys are.
  func sort() {
    let items = buffer.items(itemCount)
    packed = PackedNumbers(packing: items)
    if packed == nil {
      var scratch = SortBuffer()
      scratch.sort(items)
    }
    assert(
      (0..<itemCount).dropFirst().allSatisfy { index in
        let (before, after) = (item(index - 1), item(index))
        return (before.word, before.payload) < (after.word, after.payload)
      })
  }
}

extension NumberEntries: RandomAccessEntries {
  var count: Int { nulls.count &+ itemCount }

  @inline(__always)
  func recordID(at index: Int) -> UInt64 {
    index < nulls.count ? nulls[index] : item(index &- nulls.count).payload
  }

  @inline(__always)
  func key(at index: Int) -> ByteView {
    if index < nulls.count {
      key.reset()
      key.appendNull()
      key.append(recordID: nulls[index])
    } else {
      let item = item(index &- nulls.count)
      slot.makeKey(item.word, recordID: isUnique ? nil : item.payload, in: &key)
    }
    return key.bytes
  }

  func isRepeated(at index: Int) -> Bool {
    isUnique && index > nulls.count
      && item(index - nulls.count).word == item(index - nulls.count - 1).word
  }

  @inline(__always)
  func prefetch(ahead index: Int) {}

  @inline(__always)
  func isAbove(_ index: Int, _ other: NumberEntries, at otherIndex: Int) -> Bool {
    let isNull = index < nulls.count
    let otherIsNull = otherIndex < other.nulls.count
    if isNull || otherIsNull {
      return isNull && otherIsNull ? nulls[index] > other.nulls[otherIndex] : otherIsNull
    }
    let item = item(index &- nulls.count)
    let otherItem = other.item(otherIndex &- other.nulls.count)
    if item.word != otherItem.word { return item.word > otherItem.word }
    return !isUnique && item.payload > otherItem.payload
  }
}

extension NumberEntries {
  /// Puts all entries into `index`, encoding their keys in blocks.
  func write(into index: StoredIndex, core: TreeWriteCore) throws(StoreError) {
    try wrappingErrors {
      guard count > 0 else { return }
      var writer = try IndexWriter(into: index, core: core)
      try writer.repackIfDue(added: count, removed: 0, middle: key(at: count / 2), core: core)
      for entry in nulls.indices { try writer.put(key(at: entry), recordID: nulls[entry]) }
      var block = KeyBlock(of: slot, isUnique: isUnique)
      for entry in 0..<itemCount {
        let item = item(entry)
        block.append(item.word, recordID: item.payload)
        if block.isFull { try writer.put(&block) }
      }
      try writer.put(&block)
      try writer.finish()
    }
  }
}
