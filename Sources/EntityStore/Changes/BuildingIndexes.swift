internal import LMDB
internal import LodestoreFormat

/// An index that is being built, which has the entries of the records before a certain one.
///
/// The others are visited when the index gets there.
struct BuildingIndex {
  let index: StoredIndex
  /// The first record without an entry.
  let next: UInt64
}

extension EntityChanges {
  /// The indexes that have, or are to have, an entry of record `id`.
  @inline(__always)
  func indexes(of id: UInt64) throws(StoreError) -> [StoredIndex] {
    isBuilding ? try builtIndexes(of: id) : entity.indexes
  }

  @inline(never)
  private func builtIndexes(of id: UInt64) throws(StoreError) -> [StoredIndex] {
    try entity.indexes + building().filter { id < $0.next }.map(\.index)
  }

  /// The indexes of the entity that are being built, each with the records that had an entry when the
  /// transaction began.
  func building() throws(StoreError) -> [BuildingIndex] {
    if let knownBuilding { return knownBuilding }
    let found = try entity.building.map { index throws(StoreError) in
      BuildingIndex(index: index, next: try core.nextToIndex(index, of: entity))
    }
    knownBuilding = found
    return found
  }
}

extension TransactionCore {
  /// The id of the first record that an index which is being built has no entry of.
  func nextToIndex(_ index: StoredIndex, of entity: StoredEntity) throws(StoreError) -> UInt64 {
    let key = CounterKey.building(entity: entity.number, index: index.description.number)
    return try wrappingErrors {
      guard let stored = try transaction.get(key, in: store.trees.counters) else { return 1 }
      guard stored.count == 8 else {
        throw StoreError.damagedIndex(index.name, "how far it is built is not 8 bytes")
      }
      let next = stored.uint64(at: 0)
      guard CounterKey.builtRange.contains(next) else {
        throw StoreError.damagedIndex(
          index.name, "it is built up to record \(next), must be from 1 to 2^63")
      }
      return next
    }
  }
}
