internal import LMDB
internal import LodestoreFormat

// An import that remembers pages relies on the records created from them. When another writer
// updates or deletes such a record, the pages must be loaded again. The import therefore sets a
// mark for the entity, an odd number in the header. The next change of a record makes the mark
// even, and later changes do not write the mark. Without such an import, a transaction that changes
// records reads the mark once. See Format.md, "Header".

extension WriteCore {
  /// Called before a record of `entity` is updated or deleted.
  ///
  /// Inserts do not matter, because no import relies on the new record.
  @inline(__always)
  func noteChange(of entity: StoredEntity) throws(StoreError) {
    // The raw values are compared, because `==` of another module would be a call for each record.
    if notedEntity.rawValue != entity.number.rawValue { try noteFirstChange(of: entity) }
  }

  @inline(never)
  private func noteFirstChange(of entity: StoredEntity) throws(StoreError) {
    if notedEntities.insert(entity.number).inserted {
      let mark = try changeMark(of: entity)
      if mark & 1 == 1 { try put(mark &+ 1, of: entity) }
    }
    notedEntity = entity.number
  }

  /// Sets the mark of `entity` and returns it; the mark stays set until a record changes.
  func setChangeMark(of entity: StoredEntity) throws(StoreError) -> UInt64 {
    let mark = try changeMark(of: entity)
    if mark & 1 == 1 { return mark }
    try put(mark &+ 1, of: entity)
    notedEntity = .none
    notedEntities.remove(entity.number)
    return mark &+ 1
  }

  private func put(_ mark: UInt64, of entity: StoredEntity) throws(StoreError) {
    try wrappingErrors {
      let key = HeaderField.changes(entity: entity.number)
      try writing.put(key, littleEndianBytes(mark), in: store.trees.header)
    }
  }
}

extension TransactionCore {
  /// The change mark of `entity`, by which an import learns whether a record has been updated or
  /// deleted.
  ///
  /// The mark is odd while it is set; a later change of a record makes it even. Before an import
  /// sets it for the first time, it is 0.
  func changeMark(of entity: StoredEntity) throws(StoreError) -> UInt64 {
    return try wrappingErrors {
      let key = HeaderField.changes(entity: entity.number)
      guard let bytes = try transaction.get(key, in: store.trees.header) else { return 0 }
      guard bytes.count == 8 else {
        throw FormatError("the header's field 'changes.\(entity.number)' has \(bytes.count) bytes")
      }
      return bytes.uint64(at: 0)
    }
  }
}
