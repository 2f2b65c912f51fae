internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The keys that one record loses and gets in some indexes.
///
/// Index upkeep is one function of the old record and the new one, either of which may be absent;
/// only the difference is written. Single inserts, updates and deletes come through here; batches
/// do the same in key order (``IndexChanges``).
struct KeyChange: ~Copyable {
  private(set) var indexes: [StoredIndex] = []
  /// Empty for a new record.
  private(set) var old = KeyList()
  /// Empty for a record that is removed.
  private(set) var new = KeyList()

  /// Takes the keys of record `id`, whose views are `nil` where it is new or is removed.
  mutating func take(
    _ id: UInt64, from before: RecordView?, to after: RecordView?, in indexes: [StoredIndex],
    of entity: StoredEntity, _ core: TransactionCore
  ) throws(StoreError) {
    self.indexes = indexes
    old.removeAll()
    new.removeAll()
    for index in indexes {
      if let before { try old.append(index, of: before, id: id, entity, core) }
      if let after { try new.append(index, of: after, id: id, entity, core) }
    }
  }

  /// Whether the record loses or gets a key in the index at `position`.
  func isMoved(_ position: Int) -> Bool {
    old.isEmpty || new.isEmpty || !new.isEqual(to: old, at: position)
  }

  /// Throws when a key that the record gets is held by another record than `id`.
  ///
  /// A key that ends with the record id cannot be.
  func checkUnique(except id: UInt64?, _ core: TransactionCore) throws(StoreError) {
    if new.isEmpty { return }
    for (position, index) in indexes.enumerated() where index.isUnique && isMoved(position) {
      guard let holder = try new.holder(position, in: index, core), holder != id else { continue }
      throw .uniqueViolation(
        entity: index.entityName, index: index.name, holder: holder,
        detail: new.withKey(position) { KeyText.text($0) })
    }
  }

  /// Throws when an entry of record `id` that is to be removed leads to another record: then the
  /// stored record is damaged, and the entry belongs to the other.
  func checkOwnEntries(of id: UInt64, _ core: TransactionCore) throws(StoreError) {
    if old.isEmpty { return }
    for (position, index) in indexes.enumerated() where index.isUnique && isMoved(position) {
      guard let holder = try old.holder(position, in: index, core), holder != id else { continue }
      throw .foreignEntry(
        entity: index.entityName, recordID: id, index: index.name, holder: holder)
    }
  }
}

/// Index keys of one record, one after the other, without an allocation per key.
struct KeyList {
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  var isEmpty: Bool { ends.isEmpty }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
  }

  fileprivate mutating func append(
    _ index: StoredIndex, of view: RecordView, id: UInt64, _ entity: StoredEntity,
    _ core: TransactionCore
  ) throws(StoreError) {
    try core.encodeKey(of: view, id: id, in: index, of: entity)
    bytes.append(contentsOf: core.key.bytes)
    ends.append(bytes.count)
  }

  func withKey<R, E: Error>(_ position: Int, _ body: (ByteView) throws(E) -> R) throws(E) -> R {
    let range = (position == 0 ? 0 : ends[position - 1])..<ends[position]
    return try bytes._withBytes { (all) throws(E) in
      try body(all[range])
    }
  }

  func isEqual(to other: KeyList, at position: Int) -> Bool {
    withKey(position) { mine in
      other.withKey(position) { theirs in compareKeys(mine, theirs) == 0 }
    }
  }

  /// The record that has the key at `position` in a unique index.
  fileprivate func holder(
    _ position: Int, in index: StoredIndex, _ core: TransactionCore
  ) throws(StoreError) -> UInt64? {
    try withKey(position) { (key) throws(StoreError) in try core.holder(of: key, in: index) }
  }
}

extension TransactionCore {
  /// Leaves the key of `view` in `index` in ``key``, with the record id where the key has one.
  ///
  /// - Returns: whether a value of the key is null.
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
