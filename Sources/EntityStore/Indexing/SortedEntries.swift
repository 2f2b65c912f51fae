internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Entries of one index in key order, in memory or in a file.
protocol SortedEntries: AnyObject {
  /// Visits all entries until `body` returns false.
  ///
  /// A key is valid until `body` returns.
  func forEach(_ body: (_ key: ByteView, _ recordID: UInt64) throws -> Bool) throws

  /// Returns the first key that two entries have, or `nil` if none exists.
  func firstRepeated() throws -> RepeatedKey?

  /// Puts all entries into `index`.
  ///
  /// Entries above all keys of the index are appended.
  func write(into index: StoredIndex, core: TreeWriteCore) throws(StoreError)
}

/// A key of two records, which a unique index refuses.
struct RepeatedKey {
  var key: [UInt8]
  var first: UInt64
  var second: UInt64
}

/// Sorted entries in memory, each with an index in key order.
protocol RandomAccessEntries: SortedEntries {
  var count: Int { get }

  /// Returns the key of an entry, valid until the next call.
  func key(at index: Int) -> ByteView

  func recordID(at index: Int) -> UInt64

  /// Returns whether an entry has the same key as the entry before it.
  func isRepeated(at index: Int) -> Bool

  /// Prefetches an entry some positions after the one at `index`.
  func prefetch(ahead index: Int)

  /// Returns whether the key of the entry at `index` is above that of an entry in another list.
  func isAbove(_ index: Int, _ other: Self, at otherIndex: Int) -> Bool
}

extension SortedEntries {
  /// Returns the first `limit` pairs of adjacent entries with the same key.
  func repeated(limit: Int) throws -> [RepeatedKey] {
    var found: [RepeatedKey] = []
    try forEachRepeated { key, first, second in
      found.append(RepeatedKey(key: key, first: first, second: second))
      return found.count < limit
    }
    return found
  }

  /// Visits pairs of adjacent entries with the same key until `body` returns false.
  func forEachRepeated(
    _ body: (_ key: [UInt8], _ first: UInt64, _ second: UInt64) throws -> Bool
  ) throws {
    var before: [UInt8] = []
    var last: UInt64?
    try forEach { key, id in
      if let first = last, before.elementsEqual(key) {
        last = id
        return try body(before, first, id)
      }
      before.removeAll(keepingCapacity: true)
      before.append(contentsOf: key)
      last = id
      return true
    }
  }

  func write(into index: StoredIndex, core: TreeWriteCore) throws(StoreError) {
    try wrappingErrors {
      var writer = try IndexWriter(into: index, core: core)
      try forEach { key, id in
        try writer.put(key, recordID: id)
        return true
      }
      try writer.finish()
    }
  }

  /// Removes all entries from `index`, if it has them.
  ///
  /// Throws if an entry of a unique index leads to another record.
  func remove(from index: StoredIndex, core: TreeWriteCore) throws(StoreError) {
    try wrappingErrors {
      let cursor = try WritingCursor(index.tree, in: core.writing)
      var walk = SortedLookup(cursor.reads)
      let isUnique = index.isUnique
      try forEach { key, id in
        let outcome = try walk.find(key)
        if outcome == .found {
          if isUnique { try index.checkEntry(walk.cursor.value, leadsTo: id) }
          try walk.remove(at: cursor)
        }
        return outcome != .beyond
      }
    }
  }

  /// Throws if `index` is unique and these entries of a batch repeat a key or have a key of a
  /// stored record.
  ///
  /// - Parameter firstNew: the id of the first record of a batch insert, for the error.
  func checkUnique(
    _ index: StoredIndex, of entity: StoredEntity, firstNew: UInt64? = nil, core: TreeWriteCore
  ) throws(StoreError) {
    guard index.isUnique else { return }
    try wrappingErrors {
      if let repeated = try firstRepeated() {
        throw StoreError.repeatedInBatch(
          entity: entity.name, index: index.name, (repeated.first, repeated.second),
          firstNew: firstNew, detail: repeated.key._withBytes(KeyText.text))
      }
      var holders = try UniqueKeyHolders(in: index, core: core)
      if holders.isOver { return }
      try forEach { key, id in
        if let holder = try holders.holder(of: key) {
          let error = StoreError.uniqueViolation(
            entity: entity.name, index: index.name, holder: holder, detail: KeyText.text(key),
            of: firstNew == nil ? id : nil)
          throw firstNew.map { error.inBatch(at: Int(id - $0)) } ?? error
        }
        return !holders.isOver
      }
    }
  }
}

extension RandomAccessEntries {
  func firstRepeated() -> RepeatedKey? {
    guard count > 1, let index = (1..<count).first(where: isRepeated) else { return nil }
    return RepeatedKey(
      key: Array(key(at: index)), first: recordID(at: index - 1), second: recordID(at: index))
  }

  func forEach(_ body: (ByteView, UInt64) throws -> Bool) throws {
    for index in 0..<count {
      prefetch(ahead: index)
      guard try body(key(at: index), recordID(at: index)) else { return }
    }
  }

  func write(into index: StoredIndex, core: TreeWriteCore) throws(StoreError) {
    try wrappingErrors {
      guard count > 0 else { return }
      var writer = try IndexWriter(into: index, core: core)
      try writer.repackIfDue(added: count, removed: 0, middle: key(at: count / 2), core: core)
      for entry in 0..<count {
        prefetch(ahead: entry)
        try writer.put(key(at: entry), recordID: recordID(at: entry))
      }
      try writer.finish()
    }
  }

  /// Removes the entries of `old` from `index` and puts these entries, in one pass; both must be
  /// sorted.
  ///
  /// A key that one record loses may be taken by another record in the same call.
  func write(into index: StoredIndex, removing old: Self, core: TreeWriteCore) throws(StoreError) {
    if old.count == 0 { return try write(into: index, core: core) }
    try wrappingErrors {
      var writer = try IndexWriter(into: index, core: core, alsoRemoves: true)
      try writer.repackIfDue(
        added: count, removed: old.count, middle: old.key(at: old.count / 2), core: core)
      var left = 0
      var right = 0
      while left < old.count || right < count {
        if right == count || left < old.count && !old.isAbove(left, self, at: right) {
          old.prefetch(ahead: left)
          try writer.remove(old.key(at: left), recordID: old.recordID(at: left))
          left &+= 1
        } else {
          prefetch(ahead: right)
          try writer.put(key(at: right), recordID: recordID(at: right))
          right &+= 1
        }
      }
      try writer.finish()
    }
  }
}

extension StoredIndex {
  /// Throws if an entry of this unique index that is to be removed leads to another record than
  /// `id`.
  ///
  /// In this case the stored record `id` is damaged, and the entry belongs to the other record.
  @inline(__always)
  func checkEntry(_ value: ByteView, leadsTo id: UInt64) throws(StoreError) {
    guard value.count == 8, value.uint64(at: 0) == id else { throw foreignEntry(value, of: id) }
  }

  @inline(never)
  private func foreignEntry(_ value: ByteView, of id: UInt64) -> StoreError {
    .foreignEntry(
      entity: entityName, recordID: id, index: name,
      holder: value.count == 8 ? value.uint64(at: 0) : 0)
  }
}
