internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The keys that one record loses and gains in some indexes.
///
/// Indexes are updated from the old record and the new one, either of which may be absent. Only the
/// difference is written. Single inserts, updates and deletes use this type; batches do the same in
/// key order (``IndexChanges``).
struct KeyChange: ~Copyable {
  private(set) var indexes: [StoredIndex] = []
  /// The keys before the change; empty for a new record.
  private(set) var old = KeyList()
  /// The keys after the change; empty for a removed record.
  private(set) var new = KeyList()

  /// Encodes the keys of the record `id` before and after a change.
  ///
  /// - Parameters:
  ///   - before: the old record, or `nil` if the record is new.
  ///   - after: the new record, or `nil` if the record is removed.
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

  /// Returns whether the record loses or gains a key in the index at `position`.
  func isMoved(_ position: Int) -> Bool {
    old.isEmpty || new.isEmpty || !new.isEqual(to: old, at: position)
  }

  /// Throws if another record than `id` has a key that this record gains.
  ///
  /// A key that ends with the record's id cannot belong to another record.
  func checkUnique(except id: UInt64?, _ core: TransactionCore) throws(StoreError) {
    if new.isEmpty { return }
    for (position, index) in indexes.enumerated() where index.isUnique && isMoved(position) {
      guard let holder = try new.holder(position, in: index, core), holder != id else { continue }
      throw .uniqueViolation(
        entity: index.entityName, index: index.name, holder: holder,
        detail: new.withKey(position) { KeyText.text($0) })
    }
  }

  /// Throws if an entry to be removed leads to another record than `id`.
  ///
  /// In this case the stored record `id` is damaged, and the entry belongs to the other record.
  func checkOwnEntries(of id: UInt64, _ core: TransactionCore) throws(StoreError) {
    if old.isEmpty { return }
    for (position, index) in indexes.enumerated() where index.isUnique && isMoved(position) {
      guard let holder = try old.holder(position, in: index, core), holder != id else { continue }
      throw .foreignEntry(
        entity: index.entityName, recordID: id, index: index.name, holder: holder)
    }
  }
}

/// Index keys of one record in one array, without an allocation for each key.
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
    return try bytes._withBytes { (all) throws(E) in try body(all[range]) }
  }

  func isEqual(to other: KeyList, at position: Int) -> Bool {
    withKey(position) { mine in
      other.withKey(position) { theirs in compareKeys(mine, theirs) == 0 }
    }
  }

  /// Returns the record that has the key at `position` in a unique index, or `nil` if none exists.
  fileprivate func holder(
    _ position: Int, in index: StoredIndex, _ core: TransactionCore
  ) throws(StoreError) -> UInt64? {
    try withKey(position) { (key) throws(StoreError) in try core.holder(of: key, in: index) }
  }
}

extension TransactionCore {
  /// Encodes the key of `view` in `index` into ``key``, with the record id if the key includes it.
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
