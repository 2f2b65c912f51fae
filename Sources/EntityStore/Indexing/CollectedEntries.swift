internal import LodestoreFormat

/// Entries of many records in one index, collected in memory: as words where the index is over one
/// number, otherwise as keys.
enum CollectedEntries {
  case keys(EntryArenaBox)
  case numbers(NumberEntries)

  init(of index: StoredIndex, of entity: StoredEntity, expectedCount: Int) {
    self =
      NumberEntries(index, of: entity, expectedCount: expectedCount).map { .numbers($0) }
      ?? .keys(EntryArenaBox(expectedCount: expectedCount))
  }

  /// Such entries of each index of `entity`, in the order of its indexes.
  static func ofIndexes(of entity: StoredEntity, expectedCount: Int) -> [CollectedEntries] {
    entity.indexes.map { CollectedEntries(of: $0, of: entity, expectedCount: expectedCount) }
  }

  /// Adds the entries of `records` in the index at `place`; they are of the current layout, and have
  /// higher ids than all before.
  func append(
    _ records: borrowing RecordRow, _ keys: BatchKeys, at place: Int, core: TransactionCore
  ) throws(StoreError) {
    switch self {
    case .keys(let box): try keys.collect(place, of: records, into: box, core)
    case .numbers(let numbers): numbers.append(records)
    }
  }

  /// Adds the entry of a record of any layout in the index at `place`; it has a higher id than all
  /// before.
  @inline(__always)
  func append(
    _ view: RecordView, id: UInt64, _ keys: BatchKeys, at place: Int, core: TransactionCore
  ) throws(StoreError) {
    switch self {
    case .keys(let box): try keys.append(view, id: id, at: place, to: box, core)
    case .numbers(let numbers):
      numbers.append(try keys.word(of: view, id: id, for: numbers, core), recordID: id)
    }
  }

  func sort() {
    switch self {
    case .keys(let box): box.sort()
    case .numbers(let numbers): numbers.sort()
    }
  }

  func removeAll() {
    switch self {
    case .keys(let box): box.removeAll()
    case .numbers(let numbers): numbers.removeAll()
    }
  }

  /// What the entries and the sorting of them take.
  var memoryToSort: Int {
    switch self {
    case .keys(let box): box.memoryToSort
    case .numbers(let numbers): numbers.memoryToSort
    }
  }

  /// All of them, sorted before.
  var sorted: any SortedEntries {
    switch self {
    case .keys(let box): box
    case .numbers(let numbers): numbers
    }
  }
}
