internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The excess of an entity's records over its limit.
struct LimitExcess {
  /// The number of records above the limit; 0 or negative within the limit.
  var count = 0
  /// The number of bytes above the limit; 0 or negative within the limit.
  var byteCount = 0

  var isAbove: Bool { count > 0 || byteCount > 0 }
}

// An eviction removes records until the entity is at its limit. A write evicts first only when an
// entity exceeds its limit by more than a sixteenth. Otherwise each write of a full cache would
// cost a second commit.

extension TransactionCore {
  /// Returns the excess of `entity` over its limit, including the changes of this transaction.
  ///
  /// - Parameter tolerance: *t*, so that an excess of up to 1/2ᵗ of the limit does not count.
  private func excess(
    of entity: StoredEntity, tolerance: Int? = nil
  ) throws(StoreError) -> LimitExcess {
    func above(_ value: Int, _ limit: Int) -> Int {
      let excess = value - limit
      guard let tolerance, excess > 0 else { return excess }
      return excess - (limit >> tolerance)
    }
    var excess = LimitExcess()
    guard let limit = entity.description.limit else { return excess }
    if let most = limit.count { excess.count = above(try count(of: entity), most) }
    if let most = limit.byteCount { excess.byteCount = above(try size(of: entity), most) }
    return excess
  }

  /// Returns whether an entity is above its limit, counting records that cannot be removed too.
  func isAboveLimit() throws(StoreError) -> Bool {
    for entity in schema.limited where try excess(of: entity).isAbove { return true }
    return false
  }

  /// Returns whether an entity is above its limit by more than a sixteenth and has records to
  /// evict.
  func isFarAboveLimit() throws(StoreError) -> Bool {
    for entity in schema.limited where try excess(of: entity, tolerance: 4).isAbove {
      if try hasDueRecords(of: entity, .limit, at: 0) { return true }
    }
    return false
  }

  /// The oldest records, from a position on, whose removal brings the entity down to its limit.
  func recordsAboveLimit(
    of entity: StoredEntity, from start: EvictionPosition, atMost most: Int,
    retriesUnevictable: Bool
  ) throws(StoreError) -> DueRecords {
    var due = DueRecords(end: start, isLast: true)
    var excess = try excess(of: entity)
    guard excess.isAbove else { return due }
    // A removal may cascade to further records of the entity. The excess must then be determined
    // again after each removed record.
    let most = schema.cascades(into: entity) ? min(1, most) : most
    let order = EvictionOrder(entity: entity.number, cause: .limit)
    try forEachOldest(of: entity, from: start) { (id, key) throws(StoreError) in
      due.end = .after(key)
      guard isTried(id, key, in: order, retriesUnevictable: retriesUnevictable) else { return true }
      due.ids.append(id)
      excess.count -= 1
      if excess.byteCount > 0 {
        excess.byteCount -= try storedRecord(id, of: entity)?.count ?? 0
      }
      due.isLast = false
      return excess.isAbove && due.ids.count < most
    }
    return due
  }

  /// Visits the records of a limited entity, the oldest first, until `body` returns false.
  private func forEachOldest(
    of entity: StoredEntity, from start: EvictionPosition,
    _ body: (UInt64, ByteView) throws(StoreError) -> Bool
  ) throws(StoreError) {
    do {
      if let index = entity.limitIndex {
        let cursor = try Cursor(index.tree, in: transaction)
        try cursor.walk(KeyRange(lower: .included(start.bytes)), backwards: false) { key, value in
          try body(try index.recordID(ofEntry: key, value), key)
        }
        return
      }
      let cursor = try Cursor(entity.records, in: transaction)
      var found = try cursor.seek(atOrAfter: start.id)
      while found {
        let id = cursor.integerKey
        let goesOn = try bigEndianBytes(id)._withBytes { (key) throws(StoreError) in
          try body(id, key)
        }
        guard goesOn else { return }
        found = try cursor.next()
      }
    } catch {
      throw StoreError(wrapping: error)
    }
  }
}

extension WriteCore {
  /// Called for a record restored under its earlier id.
  ///
  /// The ids of all other new records are above those of earlier writes, so eviction has not passed
  /// them yet.
  func noteRestored(_ id: UInt64, of entity: StoredEntity) {
    guard let limit = entity.description.limit, limit.attribute == nil else { return }
    let order = EvictionOrder(entity: entity.number, cause: .limit)
    bigEndianBytes(id)._withBytes { store.unevictableRecords.put($0, of: order) }
  }
}

extension StoredSchema {
  /// Returns whether deleting a record of `entity` may delete other records of it.
  fileprivate func cascades(into entity: StoredEntity) -> Bool {
    if relationships.isEmpty { return false }
    var known: Set<EntityNumber> = []
    var open = [entity]
    while let next = open.popLast() {
      for end in ends(of: next) where end.onDelete == .cascade {
        if end.target === entity { return true }
        if known.insert(end.target.number).inserted { open.append(end.target) }
      }
    }
    return false
  }
}
