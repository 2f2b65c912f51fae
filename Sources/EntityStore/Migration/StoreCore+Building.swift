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
    try trees.putNextToIndex(nil, at: index.counter(of: entity), in: transaction)
  }

  /// Discards the entries of a computed index, so that a construction starts again.
  func discard(
    _ index: StoredComputedIndex, of entity: StoredEntity, in transaction: WritingTransaction
  ) throws {
    try index.entries.empty(in: transaction)
    try trees.putNextToIndex(nil, at: index.counter(of: entity), in: transaction)
  }

  /// Discards all indexes under construction, before stages change their attributes.
  func stopBuilding(in transaction: WritingTransaction) throws {
    for entity in try load(in: transaction.reads).entities where entity.isBuilding {
      for index in entity.building { try stopBuilding(index, of: entity, in: transaction) }
      for index in entity.computedIndexes where index.isBuilding {
        try discard(index, of: entity, in: transaction)
      }
      var description = entity.description
      description.building = []
      description.computedIndexes.removeAll(where: \.isBuilding)
      try trees.put(description, in: transaction)
    }
  }
}

extension WriteCore {
  /// The maximum number of records in one part; a part blocks other writes for some milliseconds.
  private static let partSize = 10_000
  /// The maximum number of records in one part of a computed index.
  ///
  /// A search index needs about ten times as long for a record as another index.
  private static let computedPartSize = 2_000

  /// Adds the next records to the first index under construction; returns whether any index is
  /// still under construction.
  ///
  /// Nothing is added at the beginning of a vector index for which `lists` were not made.
  ///
  /// - Throws: ``StoreError/Code/incompatibleSchema`` when two records have equal keys in a unique
  ///   index.
  func buildNextPart(with lists: NewLists?) throws(StoreError) -> Bool {
    guard let entity = schema.entities.first(where: \.isBuilding) else { return false }
    return try wrappingErrors {
      var description = entity.description
      if let index = entity.building.first {
        guard try buildPart(of: index, entity) else { return true }
        description.building.removeAll { $0 == index.description }
        description.indexes = (description.indexes + [index.description])
          .sorted { $0.number < $1.number }
      } else if let position = entity.computedIndexes.firstIndex(where: \.isBuilding) {
        guard try buildPart(of: entity.computedIndexes[position], entity, lists) else {
          return true
        }
        try complete(position, of: entity, &description)
      }
      try store.trees.put(description, in: writing)
      try store.trees.raiseSchemaNumber(in: writing)
      return description.isBuilding || schema.entities.contains { $0 !== entity && $0.isBuilding }
    }
  }

  /// Adds the next records to an index; returns whether all records have entries.
  private func buildPart(of index: StoredIndex, _ entity: StoredEntity) throws -> Bool {
    let entries = IndexEntries(
      of: index, of: entity, expectedCount: Self.partSize,
      memoryLimit: store.options.batchMemoryInBytes, core: self)
    let keys = BatchKeys(of: entity, in: [index])
    let counter = index.counter(of: entity)
    let next = try forEachNext(of: entity, counter, index.name, Self.partSize) { id, view in
      try entries.append(view, id: id, keys, at: 0, core: self)
    }
    try entries.sort()
    if index.isUnique { try checkPart(entries, index, entity) }
    try entries.sorted.write(into: index, core: self)
    try store.trees.putNextToIndex(next, at: counter, in: writing)
    return next == nil
  }

  /// Completes the description of a computed index, which replaces a complete index that is equal.
  private func complete(
    _ position: Int, of entity: StoredEntity, _ description: inout EntityDescription
  ) throws {
    let built = description.computedIndexes[position]
    for index in entity.computedIndexes
    where description.replacement(of: index.description) == built {
      try index.entries.empty(in: writing)
    }
    description.computedIndexes[position].isBuilding = false
    description.computedIndexes.removeAll { $0.number != built.number && $0.isEqual(to: built) }
  }

  /// Adds the next records to a computed index; returns whether all records have entries.
  private func buildPart(
    of index: StoredComputedIndex, _ entity: StoredEntity, _ made: NewLists?
  ) throws -> Bool {
    let entries = entries(of: index, entity)
    let counter = index.counter(of: entity)
    if index.description.kind == .vector, try nextToIndex(counter, index.entries.name) == 1 {
      guard let made, made.areMade(for: index, of: entity) else { return false }
      if let lists = made.lists { try entries.begin(with: lists) }
    }
    let next = try forEachNext(of: entity, counter, index.entries.name, Self.computedPartSize) {
      try entries.change($0, nil, $1)
    }
    try entries.write()
    try store.trees.putNextToIndex(next, at: counter, in: writing)
    return next == nil
  }

  /// Visits at most `count` records from the id of a counter on.
  ///
  /// - Returns: the id of the first record that was not visited; `nil` after the last record.
  private func forEachNext(
    of entity: StoredEntity, _ counter: [UInt8], _ name: String, _ count: Int,
    _ body: (UInt64, RecordView) throws -> Void
  ) throws -> UInt64? {
    let changes = changes(of: entity)
    let cursor = try Cursor(entity.records, in: transaction)
    var found = try cursor.seek(atOrAfter: try nextToIndex(counter, name))
    var visited = 0
    while found, visited < count {
      let id = cursor.integerKey
      try body(id, try changes.stored(cursor.value, id: id).view)
      visited += 1
      found = try cursor.next()
    }
    return found ? cursor.integerKey : nil
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
