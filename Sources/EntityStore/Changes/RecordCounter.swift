internal import LMDB
internal import LodestoreFormat

// Ids of new records; see Format.md, "Counters".

extension TransactionCore {
  /// The id above all that records of `entity` have had, as the file says; 2^63 where none is left.
  func storedNextID(of entity: StoredEntity) throws(StoreError) -> UInt64 {
    try wrappingErrors {
      let key = CounterKey.nextRecord(entity: entity.number)
      let counter = try transaction.get(key, in: store.trees.counters)
      let floor = counter.flatMap { $0.count == 8 ? $0.uint64(at: 0) : nil } ?? 1
      let cursor = try Cursor(entity.records, in: transaction)
      let highest = try cursor.last() ? cursor.integerKey : 0
      let next = max(floor, highest &+ 1)
      guard highest < 1 << 63, next <= 1 << 63 else {
        throw StoreError.damagedIDs(entity: entity.name, max(floor, highest))
      }
      return next
    }
  }
}

extension WriteCore {
  /// The id above all that records of `entity` have had, also in this write; 2^63 where none is left.
  func nextID(of entity: StoredEntity) throws(StoreError) -> UInt64 {
    if let known = nextIDs[entity.number] {
      assert(isAboveAll(known, of: entity), "the next id is above those of all records")
      return known
    }
    let next = try storedNextID(of: entity)
    nextIDs[entity.number] = next
    return next
  }

  private func isAboveAll(_ id: UInt64, of entity: StoredEntity) -> Bool {
    guard let cursor = try? Cursor(entity.records, in: transaction) else { return true }
    return (try? cursor.last()) != true || cursor.integerKey < id
  }

  /// New records have ids below it, so that one transaction cannot use up those up to 2^63, where ids end.
  static var idLimit: UInt64 { 1 << 63 - 1 << 32 }

  /// The id that the next new record of `entity` gets.
  ///
  /// - Throws: ``StoreError/Code/unstorableValue`` where none is left.
  @inline(__always)
  func newID(of entity: StoredEntity) throws(StoreError) -> UInt64 {
    let next = try nextID(of: entity)
    guard next < Self.idLimit else {
      throw .idsUsedUp(entity: entity.name, next: next, limit: Self.idLimit)
    }
    return next
  }

  /// Before a delete: afterwards the highest id present no longer tells which ids have been used.
  ///
  /// - Returns: the id above all that have been given.
  func raiseCounter(of entity: StoredEntity) throws(StoreError) -> UInt64 {
    let next = try nextID(of: entity)
    // Ids given since the last delete of this transaction need the counter raised once more.
    guard raisedCounters.updateValue(next, forKey: entity.number) != next else { return next }
    try wrappingErrors {
      let key = CounterKey.nextRecord(entity: entity.number)
      let stored = try transaction.get(key, in: store.trees.counters)
      if let stored, stored.count == 8, stored.uint64(at: 0) >= next { return }
      try transaction.put(key, littleEndianBytes(next), in: store.trees.counters)
    }
    return next
  }
}
