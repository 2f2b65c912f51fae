internal import LMDB
internal import LodestoreFormat

/// An index under construction, which has the entries of the records before a certain id.
///
/// The construction adds the entries of the other records later.
struct BuildingIndex {
  let index: StoredIndex
  /// The id of the first record without an entry.
  let next: UInt64
}

extension EntityChanges {
  /// Returns the indexes that must contain an entry for record `id` now.
  @inline(__always)
  func indexes(of id: UInt64) throws(StoreError) -> [StoredIndex] {
    isBuilding ? try builtIndexes(of: id) : entity.indexes
  }

  @inline(never)
  private func builtIndexes(of id: UInt64) throws(StoreError) -> [StoredIndex] {
    try entity.indexes + building().filter { id < $0.next }.map(\.index)
  }

  /// Returns the entity's indexes under construction, with their progress at the start of the
  /// transaction.
  func building() throws(StoreError) -> [BuildingIndex] {
    if let knownBuilding { return knownBuilding }
    let found = try entity.building.map { index throws(StoreError) in
      BuildingIndex(
        index: index, next: try core.nextToIndex(index.counter(of: entity), index.name))
    }
    knownBuilding = found
    return found
  }
}

extension TransactionCore {
  /// Returns the id of the first record that has no entry yet in the index under construction with
  /// this counter and name.
  func nextToIndex(_ counter: [UInt8], _ name: String) throws(StoreError) -> UInt64 {
    try wrappingErrors {
      guard let stored = try transaction.get(counter, in: store.trees.counters) else { return 1 }
      guard stored.count == 8 else {
        throw StoreError.damagedIndex(name, "how far it is built is not 8 bytes")
      }
      let next = stored.uint64(at: 0)
      guard CounterKey.builtRange.contains(next) else {
        throw StoreError.damagedIndex(
          name, "it is built up to record \(next), must be from 1 to 2^63")
      }
      return next
    }
  }
}

extension StoredIndex {
  /// The key of the counter that has the id of the first record without an entry.
  func counter(of entity: StoredEntity) -> [UInt8] {
    CounterKey.building(entity: entity.number, index: description.number)
  }
}

extension StoredComputedIndex {
  /// The key of the counter that has the id of the first record without entries.
  func counter(of entity: StoredEntity) -> [UInt8] {
    CounterKey.buildingComputed(entity: entity.number, index: description.number)
  }
}
