internal import LMDB

/// Index entries in the order of their keys, wherever they are.
protocol SortedEntries: AnyObject {
  /// Visits all entries until `body` returns false; a key is valid until `body` returns.
  func forEach(_ body: (_ key: UnsafeRawBufferPointer, _ recordID: UInt64) throws -> Bool) throws

  /// The first key that two entries have.
  func firstRepeated() throws -> RepeatedKey?

  /// Puts all entries into `index`: appended while they are above all that are there.
  func write(into index: StoredIndex, core: TransactionCore) throws(StoreError)
}

/// A key that two records have, which a unique index refuses.
struct RepeatedKey {
  var key: [UInt8]
  var first: UInt64
  var second: UInt64
}

extension SortedEntries {
  func write(into index: StoredIndex, core: TransactionCore) throws(StoreError) {
    do {
      var writing = try SortedWriting(into: index, core: core)
      try forEach { key, id in
        try writing.put(key, recordID: id)
        return true
      }
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// Removes all entries from `index`, where they are there.
  func remove(from index: StoredIndex, core: TransactionCore) throws(StoreError) {
    do {
      var walk = SortedLookup(try Cursor(index.tree, in: core.transaction))
      try forEach { key, _ in
        let outcome = try walk.find(key)
        if outcome == .found { try walk.remove() }
        return outcome != .beyond
      }
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// Throws when `index`, if it is a unique one, may not have these entries of a batch beside its
  /// own.
  func checkUnique(
    _ index: StoredIndex, of entity: StoredEntity, core: TransactionCore
  ) throws(StoreError) {
    guard index.isUnique else { return }
    do {
      if let repeated = try firstRepeated() {
        throw StoreError.repeatedInBatch(
          entity: entity.name, index: index.name,
          detail: repeated.key.withUnsafeBytes(KeyText.text))
      }
      var held = try HeldKeys(in: index, core: core)
      if held.isOver { return }
      try forEach { key, _ in
        if let holder = try held.holder(of: key) {
          throw StoreError.uniqueViolation(
            entity: entity.name, index: index.name, holder: holder, detail: KeyText.text(key))
        }
        return !held.isOver
      }
    } catch {
      throw StoreError(wrapping: error)
    }
  }
}
