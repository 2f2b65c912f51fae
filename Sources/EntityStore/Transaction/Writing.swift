internal import LMDB
internal import LodestoreFormat

/// What an insert does when a unique index already leads to a record.
public enum InsertConflict<E: Entity>: Sendable {
  /// Throws ``StoreError/Code/uniqueViolation``.
  case fail
  /// Leaves the stored record as it is.
  case ignore
  /// Gives the stored record all values of the new one; it keeps its id.
  case replace
  /// Gives the stored record the values of these attributes; the others stay.
  case patch([any PartialKeyPath<E> & Sendable])
}

/// What became of the values of ``WriteTransaction/insert(contentsOf:onConflict:)``.
public struct InsertResult<E: Entity>: Sendable {
  /// The ids of the records, new or found, in the order of the values.
  public internal(set) var ids: [E.ID] = []
  /// How many records are new.
  public internal(set) var insertedCount = 0
  /// How many stored records have other values now.
  public internal(set) var updatedCount = 0
  /// How many stored records had these values already.
  public internal(set) var unchangedCount = 0
  /// How many values were left out, as the conflict mode says.
  public internal(set) var ignoredCount = 0
}

extension WriteTransaction {
  /// Stores `value` as a new record with its index entries.
  ///
  /// - Returns: the id that the record has been given; with another `onConflict` than
  ///   ``InsertConflict/fail``, perhaps that of the record found.
  /// - Throws: ``StoreError/Code/uniqueViolation``, naming the index and the record that holds the
  ///   value; ``StoreError/Code/identity`` when `value` has an id already. Nothing was written,
  ///   and the transaction can go on.
  /// - Complexity: O(*i* log *n*), for *i* indexes. For many values use
  ///   ``insert(contentsOf:onConflict:)``, which is several times faster a value.
  @discardableResult
  public mutating func insert<E: Entity>(
    _ value: E, onConflict: InsertConflict<E> = .fail
  ) throws(StoreError) -> E.ID {
    let entity = try core.entity(E.self)
    try check(isNew: value, entity)
    let content = try core.encode(value, of: entity)
    let mode = try core.resolution(onConflict, entity)
    return RecordID(rawValue: try core.insert(content, into: entity, mode: mode).id)
  }

  /// Stores many new records, as one step.
  ///
  /// Index entries are sorted and written in key order, so that a batch is faster than its single
  /// inserts, the more so the larger it is.
  ///
  /// - Throws: as ``insert(_:onConflict:)``. With ``InsertConflict/fail`` nothing of the batch
  ///   remains, and the transaction can go on; with another mode, what a later value violates
  ///   in a second unique index leaves the earlier ones stored.
  /// - Complexity: O(*k* log *k*) for *k* values, and a visit of each index page concerned.
  @discardableResult
  public mutating func insert<E: Entity>(
    contentsOf values: some Sequence<E>, onConflict: InsertConflict<E> = .fail
  ) throws(StoreError) -> InsertResult<E> {
    let entity = try core.entity(E.self)
    let mode = try core.resolution(onConflict, entity)
    var result = InsertResult<E>()
    guard case .fail = mode else {
      for value in values {
        try check(isNew: value, entity)
        let content = try core.encode(value, of: entity)
        let (id, outcome) = try core.insert(content, into: entity, mode: mode)
        result.ids.append(RecordID(rawValue: id))
        result.count(outcome)
      }
      return result
    }
    let expectedCount = values.underestimatedCount
    result.ids.reserveCapacity(expectedCount)
    let bulk = try BulkInsert(into: entity, core: core, expectedCount: expectedCount)
    do throws(StoreError) {
      for value in values {
        try check(isNew: value, entity)
        let id = try bulk.append(try core.encode(value, of: entity))
        result.ids.append(RecordID(rawValue: id))
      }
    } catch {
      try bulk.takeBack()
      throw error
    }
    try bulk.finish()
    result.insertedCount = result.ids.count
    return result
  }

  /// Gives the record with `value`'s id all values of `value`; returns false when it had them.
  ///
  /// - Throws: ``StoreError/Code/noSuchRecord``, ``StoreError/Code/uniqueViolation``; nothing was
  ///   written, and the transaction can go on.
  @discardableResult
  public mutating func update<E: Entity>(_ value: E) throws(StoreError) -> Bool {
    let entity = try core.entity(E.self)
    guard value.id.isAssigned else { throw .notStored(entity: entity.name) }
    let content = try core.encode(value, of: entity)
    return try core.update(value.id.rawValue, to: content, in: entity)
  }

  /// Removes the record with `id`; returns whether there was one.
  @discardableResult
  public mutating func delete<E: Entity>(
    _ type: E.Type = E.self, id: E.ID
  ) throws(StoreError) -> Bool {
    try core.delete(id.rawValue, from: try core.entity(type))
  }

  /// Removes the records with `ids`; returns how many there were.
  @discardableResult
  public mutating func delete<E: Entity>(
    _ type: E.Type = E.self, ids: some Sequence<E.ID>
  ) throws(StoreError) -> Int {
    let entity = try core.entity(type)
    var count = 0
    for id in ids.sorted() where try core.delete(id.rawValue, from: entity) { count += 1 }
    return count
  }

  /// Removes all records of `type`.
  ///
  /// Their ids are not used again.
  ///
  /// - Complexity: O(pages), without reading the records.
  public mutating func deleteAll<E: Entity>(_ type: E.Type) throws(StoreError) {
    try core.deleteAll(of: try core.entity(type))
  }

  private func check<E: Entity>(isNew value: E, _ entity: StoredEntity) throws(StoreError) {
    guard !value.id.isAssigned else {
      throw .alreadyStored(entity: entity.name, id: value.id.rawValue)
    }
  }
}

extension InsertResult {
  mutating func count(_ outcome: InsertOutcome) {
    switch outcome {
    case .inserted: insertedCount += 1
    case .updated: updatedCount += 1
    case .unchanged: unchangedCount += 1
    case .ignored: ignoredCount += 1
    }
  }
}

extension TransactionCore {
  func resolution<E: Entity>(
    _ conflict: InsertConflict<E>, _ entity: StoredEntity
  ) throws(StoreError) -> ConflictResolution {
    switch conflict {
    case .fail: return .fail
    case .ignore: return .ignore
    case .replace: return .replace
    case .patch(let paths):
      var numbers: Set<UInt32> = []
      for path in paths {
        guard let place = E.schema.place(of: path),
          let attribute = entity.description.attribute(named: E.schema.attributes[place].name)
        else { throw .badSchema(entity: entity.name, "\(path) is no attribute of it") }
        numbers.insert(attribute.number)
      }
      return .patch(numbers)
    }
  }
}
