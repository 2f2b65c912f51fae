internal import LMDB
internal import LodestoreFormat

// Assignment of ids to new records; see Format.md, "Counters".

/// The next record ids in a transaction, which only this file changes.
struct RecordCounter {
  /// The next record id of each entity for which the transaction has asked.
  fileprivate var nextIDs: [EntityNumber: UInt64] = [:]
  /// The values to which the transaction has raised the counters of entities.
  fileprivate var raised: [EntityNumber: UInt64] = [:]
}

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
    if let known = recordCounter.nextIDs[entity.number] {
      assert(isAboveAll(known, of: entity), "the next id is above those of all records")
      return known
    }
    let next = try storedNextID(of: entity)
    recordCounter.nextIDs[entity.number] = next
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
  /// The id is taken with ``takeIDs(below:of:)`` when its record is written.
  ///
  /// - Throws: ``StoreError/Code/unstorableValue`` when no id is left.
  @inline(__always)
  func newID(of entity: StoredEntity) throws(StoreError) -> UInt64 {
    let next = try nextID(of: entity)
    try checkNewID(next, of: entity)
    return next
  }

  /// Throws ``StoreError/Code/unstorableValue`` when a new record cannot have the id `next`.
  @inline(__always)
  func checkNewID(_ next: UInt64, of entity: StoredEntity) throws(StoreError) {
    guard next < Self.idLimit else {
      throw .idsUsedUp(entity: entity.name, next: next, limit: Self.idLimit)
    }
  }

  /// Takes all ids below `end`, which new records of `entity` have from now on.
  @inline(__always)
  func takeIDs(below end: UInt64, of entity: StoredEntity) {
    assert(recordCounter.nextIDs[entity.number] ?? 0 <= end, "ids are taken in their order")
    recordCounter.nextIDs[entity.number] = end
  }

  /// Gives back the ids from `first` on, whose records nobody has seen and which are removed again.
  func giveBackIDs(from first: UInt64, of entity: StoredEntity) {
    recordCounter.nextIDs[entity.number] = first
  }

  /// Takes all ids below `end`, which another store has assigned, and raises the counter.
  ///
  /// The copy of the store may lack the records with the last of these ids.
  func raiseIDs(below end: UInt64, of entity: StoredEntity) throws(StoreError) {
    guard try nextID(of: entity) < end else { return }
    try checkNewID(end - 1, of: entity)
    takeIDs(below: end, of: entity)
    try storeCounter(end, of: entity)
    countChange()
  }

  /// Raises the counter before a delete.
  ///
  /// After the delete, a used id may be above all ids in the file, and must not be assigned again.
  ///
  /// - Returns: an id above all assigned ids.
  func raiseCounter(of entity: StoredEntity) throws(StoreError) -> UInt64 {
    let next = try nextID(of: entity)
    try storeCounter(next, of: entity)
    return next
  }

  private func storeCounter(_ next: UInt64, of entity: StoredEntity) throws(StoreError) {
    // The counter in the file is written only if ids were assigned since it was last raised in this
    // transaction.
    guard recordCounter.raised.updateValue(next, forKey: entity.number) != next else { return }
    try wrappingErrors {
      let key = CounterKey.nextRecord(entity: entity.number)
      let stored = try transaction.get(key, in: store.trees.counters)
      if let stored, stored.count == 8, stored.uint64(at: 0) >= next { return }
      try writing.put(key, littleEndianBytes(next), in: store.trees.counters)
    }
  }
}
