internal import LodestoreFormat

/// Index entries of many records of an index over one number, a date or a Boolean: each a word that is
/// ordered as the keys are, and the record id.
///
/// No key is made before it is written, and nothing but the list itself is read then: with keys, which
/// lie in the order of the records, a million entries waited for memory as long as LMDB took to write
/// them.
final class NumberEntries {
  private typealias Entry = EntryArena.Entry

  private let slot: WordSlot
  private let isUnique: Bool
  // Of one thread; a check of each access would show in every batch.
  @exclusivity(unchecked) private var room: EntryRoom
  @exclusivity(unchecked) private var listCount = 0
  /// The list once it is sorted, where it could be packed.
  @exclusivity(unchecked) private var packed: PackedEntries?
  /// The records without a value, by ascending ids.
  @exclusivity(unchecked) private var nulls: [UInt64] = []
  /// The key that was asked for last.
  @exclusivity(unchecked) private var key = KeyEncoder()

  /// `nil` for an index of another kind.
  init?(_ index: StoredIndex, of entity: StoredEntity, expectedCount: Int) {
    let attributes = index.description.attributes
    guard attributes.count == 1, let place = entity.layout.slotIndex(ofAttribute: attributes[0]),
      let slot = WordSlot(entity.layout.slots[place])
    else { return nil }
    self.slot = slot
    isUnique = index.isUnique
    room = EntryRoom(capacity: max(64, min(expectedCount, 1 << 24)))
  }

  private var list: UnsafeMutablePointer<Entry> { room.start }

  @inline(__always)
  private func entry(_ place: Int) -> Entry { packed.map { $0[place] } ?? list[place] }

  /// Adds the entries of `records`, which are of the current layout and have higher ids than all before.
  func append(_ records: borrowing RecordBuffer) {
    let base = UnsafeRawPointer(records.base)
    records.withEnds { ends in
      var start = 0
      for place in ends.indices {
        append(word(of: base + start), recordID: records.id(at: place))
        start = ends[place]
      }
    }
  }

  /// The word of a record of the current layout, which begins at `base`; `nil` for null.
  @inline(__always)
  func word(of base: UnsafeRawPointer) -> UInt64? { slot.word(base) }

  /// Adds the entry of a record that has a higher id than all before.
  @inline(__always)
  func append(_ word: UInt64?, recordID: UInt64) {
    guard let word else {
      nulls.append(recordID)
      return
    }
    if listCount == room.capacity { room.grow(keeping: listCount) }
    (list + listCount).initialize(to: Entry(window: word, number: recordID))
    listCount &+= 1
  }

  /// What the entries and the sorting of them take.
  var memoryToSort: Int { listCount * 2 * MemoryLayout<Entry>.stride + nulls.count * 8 }

  func removeAll() {
    listCount = 0
    packed = nil
    nulls.removeAll(keepingCapacity: true)
  }

  /// Those of one number stay in the order of their ids, as their keys are.
  func sort() {
    let entries = UnsafeMutableBufferPointer(start: list, count: listCount)
    packed = PackedEntries(packing: entries)
    if packed != nil { return }
    var scratch = EntryRoom()
    KeySort.radixSort(entries, scratch: &scratch)
  }
}

extension NumberEntries: PlacedEntries {
  var count: Int { nulls.count &+ listCount }

  @inline(__always)
  func recordID(at place: Int) -> UInt64 {
    place < nulls.count ? nulls[place] : entry(place &- nulls.count).number
  }

  @inline(__always)
  func key(at place: Int) -> UnsafeRawBufferPointer {
    if place < nulls.count {
      key.reset()
      key.appendNull()
      key.append(recordID: nulls[place])
    } else {
      let entry = entry(place &- nulls.count)
      slot.makeKey(entry.window, recordID: isUnique ? nil : entry.number, in: &key)
    }
    return key.bytes
  }

  func isRepeated(at place: Int) -> Bool {
    isUnique && place > nulls.count
      && entry(place - nulls.count).window == entry(place - nulls.count - 1).window
  }

  @inline(__always)
  func fetchAhead(of place: Int) {}

  @inline(__always)
  func isBehind(_ place: Int, _ other: NumberEntries, at otherPlace: Int) -> Bool {
    let isNull = place < nulls.count
    let otherIsNull = otherPlace < other.nulls.count
    if isNull || otherIsNull {
      return isNull && otherIsNull ? nulls[place] > other.nulls[otherPlace] : otherIsNull
    }
    let entry = entry(place &- nulls.count)
    let otherEntry = other.entry(otherPlace &- other.nulls.count)
    if entry.window != otherEntry.window { return entry.window > otherEntry.window }
    return !isUnique && entry.number > otherEntry.number
  }
}

extension NumberEntries {
  func write(into index: StoredIndex, core: TransactionCore) throws(StoreError) {
    do {
      var writer = try IndexWriter(into: index, core: core)
      for place in nulls.indices { try writer.put(key(at: place), recordID: nulls[place]) }
      var block = KeyBlock(of: slot, isUnique: isUnique)
      for place in 0..<listCount {
        let entry = entry(place)
        block.append(entry.window, recordID: entry.number)
        if block.isFull {
          block.makeKeys()
          try writer.put(block)
          block.removeAll()
        }
      }
      block.makeKeys()
      try writer.put(block)
    } catch {
      throw StoreError(wrapping: error)
    }
  }
}

extension EntryArena.Entry {
  /// An entry that stands for a number and is sorted by `window`.
  init(window: UInt64, number: UInt64) {
    self.init(
      window: window, offset: UInt32(truncatingIfNeeded: number),
      keyCount: UInt32(truncatingIfNeeded: number >> 32))
  }

  var number: UInt64 { UInt64(offset) | UInt64(keyCount) << 32 }
}
