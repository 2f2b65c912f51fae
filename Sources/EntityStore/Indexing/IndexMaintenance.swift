internal import LMDB
internal import LodestoreFormat

// Index upkeep is one function of the old record and the new one, either of which may be absent;
// only the difference is written. Single inserts, updates and deletes come through here; batches
// do the same in key order (IndexChanges).

extension TransactionCore {
  /// The keys of `view` in `indexes` of `entity`, with the record id where the key has one.
  func collectKeys(
    of view: RecordView, id: UInt64, in indexes: [StoredIndex], of entity: StoredEntity,
    into list: inout KeyList
  ) throws(StoreError) {
    list.removeAll()
    for index in indexes {
      try encodeKey(of: view, id: id, in: index, of: entity)
      list.append(key.bytes)
    }
  }

  /// Leaves the key of `view` in `index` in ``key``.
  @discardableResult
  func encodeKey(
    of view: RecordView, id: UInt64, in index: StoredIndex, of entity: StoredEntity
  ) throws(StoreError) -> Bool {
    do {
      let hasNull = try IndexTuple.encode(
        index.description, of: view, in: entity.description, into: &key)
      if IndexTuple.keyHasRecordID(isUnique: index.isUnique, hasNull: hasNull) {
        key.append(recordID: id)
      }
      return hasNull
    } catch {
      throw .damagedRecord(entity: entity.name, recordID: id, error)
    }
  }
}

extension WriteCore {
  /// Throws when a key of ``newKeys`` is held by another record than `id`.
  ///
  /// A key that ends with the record id cannot be.
  func checkUnique(
    in indexes: [StoredIndex], of entity: StoredEntity, id: UInt64?, hasOld: Bool
  ) throws(StoreError) {
    for (position, index) in indexes.enumerated() where index.isUnique {
      if hasOld, newKeys.isEqual(to: oldKeys, at: position) { continue }
      let holder = try newKeys.withKey(position) { (key) throws(StoreError) in
        try self.holder(of: key, in: index)
      }
      if let holder, holder != id {
        throw .uniqueViolation(
          entity: entity.name, index: index.name, holder: holder,
          detail: newKeys.withKey(position) { KeyText.text($0) })
      }
    }
  }

  /// Throws when an entry of record `id` that is to be removed, one of ``oldKeys`` in a unique index, leads
  /// to another record: then the stored record is damaged, and the entry belongs to the other.
  func checkOwnEntries(
    in indexes: [StoredIndex], of entity: StoredEntity, id: UInt64, hasNew: Bool
  ) throws(StoreError) {
    for (position, index) in indexes.enumerated() where index.isUnique {
      if hasNew, newKeys.isEqual(to: oldKeys, at: position) { continue }
      let holder = try oldKeys.withKey(position) { (key) throws(StoreError) in
        try self.holder(of: key, in: index)
      }
      if let holder, holder != id {
        throw .foreignEntry(entity: entity.name, recordID: id, index: index.name, holder: holder)
      }
    }
  }
}
