internal import LMDB
internal import LodestoreFormat

// All writes of index entries: no other file puts a pair into an index tree or takes one out, which
// `tools/lint` checks.

/// Puts entries into an index in the order of their keys: appended while their keys are above all keys of
/// the index.
struct IndexWriter: ~Copyable {
  private let index: StoredIndex
  private let cursor: Cursor
  private let isUnique: Bool
  private let body = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)
  private var isAppending: Bool
  /// Whether the first key was compared with the last key of the index.
  private var hasBegun: Bool

  /// - Parameter alsoRemoves: entries are also removed, so none is appended.
  init(
    into index: StoredIndex, core: TransactionCore, alsoRemoves: Bool = false
  ) throws(LMDBError) {
    cursor = try Cursor(index.tree, in: core.transaction)
    self.index = index
    isUnique = index.isUnique
    isAppending = !alsoRemoves
    hasBegun = alsoRemoves
  }

  deinit { body.deallocate() }

  @inline(__always)
  mutating func put(_ key: UnsafeRawBufferPointer, recordID: UInt64) throws(LMDBError) {
    if !hasBegun { try begin(key) }
    if isUnique { body.storeBytes(of: recordID.littleEndian, as: UInt64.self) }
    let value = UnsafeRawBufferPointer(start: body, count: isUnique ? 8 : 0)
    if isAppending {
      if try cursor.append(key, value) { return }
      isAppending = false
    }
    try cursor.put(key, value)
  }

  /// Puts all entries of `block`, whose keys have been made and are above those put before.
  mutating func put(_ block: borrowing KeyBlock) throws(LMDBError) {
    guard block.count > 0, let keys = block.base else { return }
    if !hasBegun { try begin(block.key(at: 0)) }
    var entry = 0
    if isAppending {
      entry = try cursor.append(keys: keys, ends: block.ends, values: block.values)
      isAppending = entry == block.count
    }
    while entry < block.count {
      try put(block.key(at: entry), recordID: block.recordID(at: entry))
      entry += 1
    }
  }

  /// Removes the entry of record `id` with `key`, if the index has it.
  @inline(__always)
  func remove(_ key: UnsafeRawBufferPointer, recordID id: UInt64) throws {
    guard try cursor.seek(key) else { return }
    if isUnique { try index.checkEntry(cursor.value, leadsTo: id) }
    try cursor.delete()
  }

  private mutating func begin(_ key: UnsafeRawBufferPointer) throws(LMDBError) {
    hasBegun = true
    if try cursor.last() { isAppending = compareKeys(cursor.key, key) < 0 }
  }
}

extension SortedLookup {
  /// Removes the entry that was found last.
  mutating func remove() throws(LMDBError) {
    try cursor.delete()
    noteRemoval()
  }
}

extension TransactionCore {
  /// Moves the entries of record `id` from the keys in ``oldKeys`` to those in ``newKeys``.
  func moveEntries(
    of entity: StoredEntity, id: UInt64, hasOld: Bool, hasNew: Bool
  ) throws(StoreError) {
    let body = littleEndianBytes(id)
    do {
      for (position, index) in entity.indexes.enumerated() {
        // An attribute that kept its value yields the same entry on both sides; removing it after
        // writing it would lose the record from that index.
        if hasOld, hasNew, newKeys.isEqual(to: oldKeys, at: position) { continue }
        if hasOld {
          try oldKeys.withKey(position) { (key) throws(LMDBError) in
            _ = try transaction.delete(key, in: index.tree)
          }
        }
        if hasNew {
          try newKeys.withKey(position) { (key) throws(LMDBError) in
            try body.withBytes { (body) throws(LMDBError) in
              try transaction.put(
                key, index.isUnique ? body : UnsafeRawBufferPointer(start: nil, count: 0),
                in: index.tree)
            }
          }
        }
      }
    } catch {
      throw StoreError(error)
    }
  }
}

extension TransactionCore {
  /// Puts the entry of one record into an index that is being built.
  ///
  /// - Throws: ``StoreError/Code/uniqueViolation`` where another record has it.
  func putEntry(
    of view: RecordView, id: UInt64, in index: StoredIndex, of entity: StoredEntity
  ) throws(StoreError) {
    try encodeKey(of: view, id: id, in: index, of: entity)
    if index.isUnique, let holder = try holder(of: key.bytes, in: index), holder != id {
      throw .uniqueViolation(
        entity: entity.name, index: index.name, holder: holder, detail: KeyText.text(key.bytes))
    }
    do {
      try littleEndianBytes(id).withBytes { (body) throws(LMDBError) in
        try transaction.put(
          key.bytes, index.isUnique ? body : UnsafeRawBufferPointer(start: nil, count: 0),
          in: index.tree)
      }
    } catch {
      throw StoreError(error)
    }
  }

  /// Removes the entry of one record from an index that is being built.
  func removeEntry(
    of view: RecordView, id: UInt64, in index: StoredIndex, of entity: StoredEntity
  ) throws(StoreError) {
    try encodeKey(of: view, id: id, in: index, of: entity)
    do {
      _ = try transaction.delete(key.bytes, in: index.tree)
    } catch {
      throw StoreError(error)
    }
  }
}

extension StoredIndex {
  /// Removes all entries, in time that does not depend on how many there are.
  func empty(in transaction: Transaction) throws(LMDBError) { try transaction.empty(tree) }
}
