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
  @exclusivity(unchecked) private var list: UnsafeMutablePointer<Entry>
  @exclusivity(unchecked) private var capacity: Int
  @exclusivity(unchecked) private var count = 0
  /// The records without a value, by ascending ids.
  @exclusivity(unchecked) private var nulls: [UInt64] = []

  /// `nil` for an index of another kind.
  init?(_ index: StoredIndex, of entity: StoredEntity, expectedCount: Int) {
    let attributes = index.description.attributes
    guard attributes.count == 1, let place = entity.layout.placeIndex(ofAttribute: attributes[0]),
      let slot = WordSlot(entity.layout.places[place])
    else { return nil }
    self.slot = slot
    isUnique = index.isUnique
    capacity = max(64, min(expectedCount, 1 << 24))
    list = .allocate(capacity: capacity)
  }

  deinit { list.deallocate() }

  /// Adds the entries of `records`, which are of the current layout and have higher ids than all before.
  func append(_ records: borrowing RecordRow) {
    if count + records.count > capacity { grow(count + records.count) }
    for place in 0..<records.count {
      let id = records.id(at: place)
      guard let base = records[place].baseAddress, let word = slot.word(base) else {
        nulls.append(id)
        continue
      }
      (list + count).initialize(to: Entry(window: word, number: id))
      count &+= 1
    }
  }

  private func grow(_ needed: Int) {
    let larger = max(needed, capacity * 2)
    let moved = UnsafeMutablePointer<Entry>.allocate(capacity: larger)
    moved.moveInitialize(from: list, count: count)
    list.deallocate()
    list = moved
    capacity = larger
  }

  /// What the entries and the sorting of them take.
  var memoryToSort: Int { count * 2 * MemoryLayout<Entry>.stride + nulls.count * 8 }

  func removeAll() {
    count = 0
    nulls.removeAll(keepingCapacity: true)
  }

  /// Those of one number stay in the order of their ids, as their keys are.
  func sort() {
    var scratch: [Entry] = []
    KeySort.radixSort(UnsafeMutableBufferPointer(start: list, count: count), scratch: &scratch)
  }
}

extension NumberEntries: SortedEntries {
  func forEach(_ body: (UnsafeRawBufferPointer, UInt64) throws -> Bool) throws {
    var key = KeyEncoder()
    for id in nulls {
      key.reset()
      key.appendNull()
      key.append(recordID: id)
      guard try body(key.bytes, id) else { return }
    }
    for place in 0..<count {
      let entry = list[place]
      key.reset()
      slot.append(entry.window, to: &key)
      let id = entry.number
      if !isUnique { key.append(recordID: id) }
      guard try body(key.bytes, id) else { return }
    }
  }

  func firstRepeated() -> RepeatedKey? {
    guard isUnique, count > 1 else { return nil }
    for place in 1..<count where list[place].window == list[place - 1].window {
      var key = KeyEncoder()
      slot.append(list[place].window, to: &key)
      return RepeatedKey(
        key: Array(key.bytes), first: list[place - 1].number, second: list[place].number)
    }
    return nil
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
