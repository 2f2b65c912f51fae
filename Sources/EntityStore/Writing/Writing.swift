internal import LodestoreFormat

extension WriteTransaction {
  /// Stores `value` as a new record with its index entries.
  ///
  /// - Returns: the id that the record has been given; with another `onConflict` than
  ///   ``InsertConflict/fail``, perhaps that of the record found.
  /// - Throws: ``StoreError/Code/uniqueViolation``, naming the index and the record that holds the
  ///   value; ``StoreError/Code/invalidValue``, naming the attribute whose constraint is broken;
  ///   ``StoreError/Code/identity`` when `value` has an id already. Nothing was written, and the
  ///   transaction can go on.
  /// - Complexity: O(*i* log *n*), for *i* indexes. For many values use
  ///   ``insert(contentsOf:onConflict:)``, which is several times faster a value.
  @discardableResult
  public mutating func insert<E: Entity>(
    _ value: E, onConflict: InsertConflict<E> = .fail
  ) throws(StoreError) -> E.ID {
    let entity = try core.entity(E.self)
    try check(isNew: value, entity)
    let rule = try onConflict.rule(in: entity)
    if case .fail = rule {
      try entity.part?.checkNew(entity.name)
      let id = try core.withWhole(value, of: entity) { (content) throws(StoreError) in
        try core.changes(of: entity).insert(content)
      }
      return RecordID(rawValue: id)
    }
    var batch = IncomingRecords(entity.layout)
    try core.withWhole(value, of: entity) { (content) throws(StoreError) in
      batch.append(UnsafeRawBufferPointer(content), given: entity.part?.isGiven)
    }
    let merge = BatchMerge(
      batch, into: entity, matching: entity.matchingIndexes, rule: rule, core: core)
    return RecordID(rawValue: try merge.writeAlone(0).id())
  }

  /// Gives the record with `value`'s id all values of `value`; returns false when it had them.
  ///
  /// - Throws: ``StoreError/Code/noSuchRecord``, ``StoreError/Code/uniqueViolation``,
  ///   ``StoreError/Code/invalidValue``; nothing was written, and the transaction can go on.
  @discardableResult
  public mutating func update<E: Entity>(_ value: E) throws(StoreError) -> Bool {
    let entity = try core.entity(E.self)
    guard value.id.isAssigned else { throw .notStored(entity: entity.name) }
    let id = value.id.rawValue
    return try core.withWhole(value, of: entity, over: id) { (content) throws(StoreError) in
      try core.changes(of: entity).update(id, to: content)
    }
  }

  /// Removes the record with `id`; returns whether there was one.
  @discardableResult
  public mutating func delete<E: Entity>(
    _ type: E.Type = E.self, id: E.ID
  ) throws(StoreError) -> Bool {
    try core.changes(of: try core.entity(type)).delete(id.rawValue)
  }

  /// Removes the records with `ids`; returns how many there were.
  @discardableResult
  public mutating func delete<E: Entity>(
    _ type: E.Type = E.self, ids: some Sequence<E.ID>
  ) throws(StoreError) -> Int {
    let entity = try core.entity(type)
    var sorted = ids.map(\.rawValue)
    IDSort.sort(&sorted)
    return try BatchDelete(of: entity, core: core, expectedCount: sorted.count).delete(sorted)
  }

  /// Removes all records of `type`.
  ///
  /// Their ids are not used again.
  ///
  /// - Complexity: O(pages), without reading the records.
  public mutating func deleteAll<E: Entity>(_ type: E.Type) throws(StoreError) {
    try core.changes(of: try core.entity(type)).clear()
  }

  func check<E: Entity>(isNew value: E, _ entity: StoredEntity) throws(StoreError) {
    guard !value.id.isAssigned else {
      throw .alreadyStored(entity: entity.name, id: value.id.rawValue)
    }
  }
}
