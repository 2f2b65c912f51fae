internal import LMDB
internal import LodestoreFormat

// Ids of new records; see Format.md, "Counters".

extension TransactionCore {
  /// The id that the next new record of `entity` gets.
  func nextID(of entity: StoredEntity) throws(StoreError) -> UInt64 {
    if let known = nextIDs[entity.number] {
      assert(isAboveAll(known, of: entity), "the next id is above those of all records")
      return known
    }
    let next = try wrappingErrors {
      let key = CounterKey.nextRecord(entity: entity.number)
      let counter = try transaction.get(key, in: store.trees.counters)
      let floor = counter.flatMap { $0.count == 8 ? $0._uint64(at: 0) : nil } ?? 1
      let cursor = try Cursor(entity.records, in: transaction)
      let highest = try cursor.last() ? cursor.integerKey : 0
      let next = max(floor, highest &+ 1)
      // Format.md: ids are below 2^63; one transaction cannot use up the room that is left here.
      let limit: UInt64 = 1 << 63 - 1 << 32
      if highest >= limit || floor >= limit {
        throw StoreError.damagedIndex(
          entity.name, "its next record id is \(next), record ids are below 2^63")
      }
      return next
    }
    nextIDs[entity.number] = next
    return next
  }

  /// Whether the counter in the file is above `id`, so that no later transaction gives it again.
  func isCounterRaised(above id: UInt64, of entity: StoredEntity) -> Bool {
    raisedCounters[entity.number].map { $0 > id } ?? false
  }

  private func isAboveAll(_ id: UInt64, of entity: StoredEntity) -> Bool {
    guard let cursor = try? Cursor(entity.records, in: transaction) else { return true }
    return (try? cursor.last()) != true || cursor.integerKey < id
  }

  /// Before a delete: afterwards the highest id present no longer tells which ids have been used.
  func raiseCounter(of entity: StoredEntity) throws(StoreError) {
    let next = try nextID(of: entity)
    // Ids given since the last delete of this transaction need the counter raised once more.
    guard raisedCounters.updateValue(next, forKey: entity.number) != next else { return }
    try wrappingErrors {
      let key = CounterKey.nextRecord(entity: entity.number)
      let stored = try transaction.get(key, in: store.trees.counters)
      if let stored, stored.count == 8, stored._uint64(at: 0) >= next { return }
      try transaction.put(key, littleEndianBytes(next), in: store.trees.counters)
    }
  }
}
