internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

// Indexes that are built while the store is in use. The catalogue lists them separately, and a
// counter holds the id up to which records have entries.

extension StoreCore {
  /// Returns whether new indexes of `entity` are built while the store is in use.
  ///
  /// The result is false for an entity without records, because its indexes are complete
  /// immediately.
  func buildsIndexesInUse(of entity: StoredEntity, in transaction: Transaction) throws -> Bool {
    try options.buildsIndexesInUse && transaction.count(of: entity.records) > 0
  }

  /// Discards the entries of an index, so that its construction starts again.
  func stopBuilding(
    _ index: StoredIndex, of entity: StoredEntity, in transaction: WritingTransaction
  ) throws {
    try index.empty(in: transaction)
    try trees.putNextToIndex(
      nil, index: index.description.number, of: entity.number, in: transaction)
  }

  /// Discards all indexes under construction, before stages change their attributes.
  func stopBuilding(in transaction: WritingTransaction) throws {
    for entity in try load(in: transaction.reads).entities where !entity.building.isEmpty {
      for index in entity.building { try stopBuilding(index, of: entity, in: transaction) }
      var description = entity.description
      description.building = []
      try trees.put(description, in: transaction)
    }
  }
}

extension WriteCore {
  /// The maximum number of records in one part; a part blocks other writes for some milliseconds.
  private static let partSize = 10_000

  /// Adds the next records to the first index under construction; returns whether any index is
  /// still under construction.
  ///
  /// - Throws: ``StoreError/Code/incompatibleSchema`` when two records have equal keys in a unique
  ///   index.
  func buildNextPart() throws(StoreError) -> Bool {
    guard let entity = schema.entities.first(where: { !$0.building.isEmpty }),
      let index = entity.building.first
    else { return false }
    let entries = IndexEntries(
      of: index, of: entity, expectedCount: Self.partSize,
      memoryLimit: store.options.batchMemoryInBytes, core: self)
    let keys = BatchKeys(of: entity, in: [index])
    let changes = changes(of: entity)
    return try wrappingErrors {
      let cursor = try Cursor(entity.records, in: transaction)
      var next = try nextToIndex(index, of: entity)
      var found = try cursor.seek(atOrAfter: next)
      var count = 0
      while found, count < Self.partSize {
        let id = cursor.integerKey
        try entries.append(
          try changes.stored(cursor.value, id: id).view, id: id, keys, at: 0, core: self)
        next = id &+ 1
        count += 1
        found = try cursor.next()
      }
      try entries.sort()
      if index.isUnique { try checkPart(entries, index, entity) }
      try entries.sorted.write(into: index, core: self)
      let isWhole = !found
      try store.trees.putNextToIndex(
        isWhole ? nil : next, index: index.description.number, of: entity.number, in: writing)
      guard isWhole else { return true }
      var description = entity.description
      description.building.removeAll { $0 == index.description }
      description.indexes = (description.indexes + [index.description])
        .sorted { $0.number < $1.number }
      try store.trees.put(description, in: writing)
      try store.trees.raiseSchemaNumber(in: writing)
      return !description.building.isEmpty
        || schema.entities.contains { $0 !== entity && !$0.building.isEmpty }
    }
  }

  /// Throws when a key of a unique index is repeated.
  private func checkPart(
    _ entries: IndexEntries, _ index: StoredIndex, _ entity: StoredEntity
  ) throws {
    let sorted = entries.sorted
    var pairs = try sorted.repeated(limit: 10).map {
      (first: $0.first, second: $0.second, key: $0.key)
    }
    try sorted.forEach { key, id in
      if let holder = try holder(of: key, in: index), holder != id {
        pairs.append((first: holder, second: id, key: Array(key)))
      }
      return pairs.count < 10
    }
    guard !pairs.isEmpty else { return }
    throw StoreError.cannotBuildUnique(
      entity: entity.name, index: index.name, pairs.map { ($0.first, $0.second) },
      detail: pairs.map { $0.key._withBytes(KeyText.text) }.joined(separator: ", "))
  }

  /// Discards an index that cannot be built; does nothing when there is no such index.
  func stopBuilding(_ name: String, of entityName: String) throws(StoreError) {
    guard let entity = schema.entities.first(where: { $0.name == entityName }),
      let index = entity.building.first(where: { $0.name == name })
    else { return }
    try wrappingErrors {
      try store.stopBuilding(index, of: entity, in: writing)
      var description = entity.description
      description.building.removeAll { $0 == index.description }
      try store.trees.put(description, in: writing)
      try store.trees.raiseSchemaNumber(in: writing)
    }
  }
}
