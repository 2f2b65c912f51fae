internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension TreeWriteCore {
  /// Fills a new, empty index from the records.
  ///
  /// Throws if the index is unique and two records have the same key.
  func build(
    _ index: StoredIndex, of entity: StoredEntity, _ work: OpeningWork?
  ) throws(StoreError) {
    guard let entries = try sortedEntries(of: index, of: entity, work) else { return }
    let sorted = entries.sorted
    try wrappingErrors {
      if index.isUnique, try sorted.firstRepeated() != nil {
        let repeated = try sorted.repeated(limit: 10)
        let keys = repeated.map { $0.key._withBytes(KeyText.text) }
        throw StoreError.cannotBuildUnique(
          entity: entity.name, index: index.name, repeated.map { ($0.first, $0.second) },
          detail: keys.joined(separator: ", "))
      }
      guard let work else { return try sorted.write(into: index, core: self) }
      var writer = try IndexWriter(into: index, core: self)
      try sorted.forEach { key, id in
        try writer.put(key, recordID: id)
        try work.step()
        return true
      }
      try writer.finish()
    }
  }
}

extension TransactionCore {
  /// Returns the pairs of records with the same key in a unique index.
  ///
  /// With more than two such records, each is paired with the next.
  func repeatedKeys(
    in index: StoredIndex, of entity: StoredEntity
  ) throws -> [(first: UInt64, second: UInt64)] {
    guard let entries = try sortedEntries(of: index, of: entity, nil) else { return [] }
    var pairs: [(first: UInt64, second: UInt64)] = []
    try entries.sorted.forEachRepeated { _, first, second in
      pairs.append((first, second))
      return true
    }
    return pairs
  }

  /// Returns the entries that the records must have in an index, sorted; `nil` if there are no
  /// records.
  func sortedEntries(
    of index: StoredIndex, of entity: StoredEntity, _ work: OpeningWork?
  ) throws(StoreError) -> IndexEntries? {
    let count = try count(of: entity)
    guard count > 0 else { return nil }
    let entries = IndexEntries(
      of: index, of: entity, expectedCount: count,
      memoryLimit: store.options.batchMemoryInBytes, core: self)
    let keys = BatchKeys(of: entity, in: [index])
    let verifies = verifiesChecksums(of: entity)
    try forEachStored(of: entity) { (id, bytes) throws(StoreError) in
      let view = try entity.view(bytes, id: id, verifying: verifies)
      try entries.append(view, id: id, keys, at: 0, core: self)
      try work?.step()
    }
    try entries.sort()
    return entries
  }

  /// Throws if a record has null in one of `attributes`, which are to become required.
  func checkPresence(
    of attributes: [EntityDescription.Attribute], in entity: StoredEntity, _ work: OpeningWork?
  ) throws(StoreError) {
    guard !attributes.isEmpty else { return }
    let verifies = verifiesChecksums(of: entity)
    try forEachStored(of: entity) { (id, bytes) throws(StoreError) in
      try work?.step()
      let view = try entity.view(bytes, id: id, verifying: verifies)
      for attribute in attributes where view.isNull(attribute) {
        throw .nullInRequired(entity: entity.name, attribute: attribute.name, recordID: id)
      }
    }
  }

  /// Returns the ids of all records in ascending order.
  func storedIDs(of entity: StoredEntity) throws(StoreError) -> [UInt64] {
    var ids: [UInt64] = []
    try forEachStored(of: entity) { (id, _) throws(StoreError) in ids.append(id) }
    return ids
  }

  /// Visits every record in id order, as a view by its own layout.
  func forEachRecord(
    of entity: StoredEntity, _ body: (UInt64, RecordView) throws(StoreError) -> Void
  ) throws(StoreError) {
    try forEachStored(of: entity) { (id, bytes) throws(StoreError) in
      try body(id, try entity.view(bytes, id: id))
    }
  }

  /// Returns whether checksums of records are verified before a change.
  ///
  /// For an entity with history they always are, since the history stores values of the records.
  func verifiesChecksums(of entity: StoredEntity) -> Bool {
    store.options.verifiesChecksums || entity.description.history?.keepsRecords == true
  }

  /// Visits the bytes of every record in id order, from the id `first`.
  func forEachStored(
    of entity: StoredEntity, from first: UInt64 = 0,
    _ body: (UInt64, ByteView) throws(StoreError) -> Void
  ) throws(StoreError) {
    try wrappingErrors {
      let cursor = try Cursor(entity.records, in: transaction)
      var found = try cursor.seek(atOrAfter: first)
      while found {
        try body(cursor.integerKey, cursor.value)
        found = try cursor.next()
      }
    }
  }
}

extension RecordView {
  /// Returns whether the record has no value of an attribute.
  func isNull(_ attribute: EntityDescription.Attribute) -> Bool {
    layout.slotIndex(ofAttribute: attribute.number).map { isNull(layout.slots[$0]) }
      ?? (attribute.initial == .null)
  }
}
