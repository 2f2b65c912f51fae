internal import LMDB
internal import LodestoreFormat

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
      var writer = try IndexWriter(into: index, core: core)
      try forEach { key, id in
        try writer.put(key, recordID: id)
        return true
      }
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// Removes all entries from `index`, where they are there.
  ///
  /// Throws where the entry of a unique index leads to another record.
  func remove(from index: StoredIndex, core: TransactionCore) throws(StoreError) {
    do {
      var walk = SortedLookup(try Cursor(index.tree, in: core.transaction))
      let isUnique = index.isUnique
      try forEach { key, id in
        let outcome = try walk.find(key)
        if outcome == .found {
          if isUnique { try index.checkEntry(walk.cursor.value, leadsTo: id) }
          try walk.remove()
        }
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

extension StoredIndex {
  /// Throws when an entry of this unique index, which is about to go with record `id`, leads to another
  /// record: the stored record is damaged then, and the entry another's.
  @inline(__always)
  func checkEntry(_ value: UnsafeRawBufferPointer, leadsTo id: UInt64) throws(StoreError) {
    guard value.count == 8, value.uint64(at: 0) == id else {
      throw foreignEntry(value, of: id)
    }
  }

  @inline(never)
  private func foreignEntry(_ value: UnsafeRawBufferPointer, of id: UInt64) -> StoreError {
    .foreignEntry(
      entity: entityName, recordID: id, index: name,
      holder: value.count == 8 ? value.uint64(at: 0) : 0)
  }
}
