internal import LMDB
internal import LodestoreFormat

// Assignment of ids to new records; see Format.md, "Counters".

extension TransactionCore {
  /// The next id of `entity`, above all ids that its records have had; 2^63 when no id is left.
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
  /// The lowest id above all ids that records of `entity` have had, including those of this write;
  /// 2^63 when no id is left.
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

  /// New records get ids below this limit.
  ///
  /// The 2^32 ids above it are a reserve, so that one transaction cannot reach 2^63.
  static var idLimit: UInt64 { 1 << 63 - 1 << 32 }

  /// Returns the id for the next new record of `entity`.
  ///
  /// - Throws: ``StoreError/Code/unstorableValue`` when no id is left.
  @inline(__always)
  func newID(of entity: StoredEntity) throws(StoreError) -> UInt64 {
    let next = try nextID(of: entity)
    guard next < Self.idLimit else {
      throw .idsUsedUp(entity: entity.name, next: next, limit: Self.idLimit)
    }
    return next
  }

  /// Raises the counter before a delete.
  ///
  /// After the delete, a used id may be above all ids in the file, and must not be assigned again.
  ///
  /// - Returns: an id above all assigned ids.
  func raiseCounter(of entity: StoredEntity) throws(StoreError) -> UInt64 {
    let next = try nextID(of: entity)
    // The counter in the file is written only if ids were assigned since it was last raised in this
    // transaction.
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
