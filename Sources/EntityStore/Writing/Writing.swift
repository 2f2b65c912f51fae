internal import LodestoreFormat

extension WriteTransaction {
  /// Inserts `value` as a new record with its index entries.
  ///
  ///     let film = try tx.insert(Film(title: "Alien"))
  ///     film.id  // assigned
  ///
  /// - Parameters:
  ///   - onConflict: the rule for a unique key that already belongs to a record.
  ///   - matching: the unique index that finds the stored record. By default all unique indexes are
  ///     used; see ``MergePolicy``. ``MergePolicy/fail`` ignores this parameter.
  /// - Returns: the stored record. With ``MergePolicy/fail`` this is `value` with its id,
  ///   otherwise the merged record.
  /// - Throws: ``StoreError/Code/uniqueViolation``, naming the index and the record that has the
  ///   value. When the keys do not agree on one record, the message names the record of each key.
  ///   ``StoreError/Code/invalidValue``, naming the attribute whose constraint is broken.
  ///   ``StoreError/Code/invalidID`` when `value` already has an id. After an error nothing was
  ///   written, and the transaction can continue.
  /// - Complexity: O(*i* log *n*), for *i* indexes. For many values use
  ///   ``insert(_:onConflict:matching:returning:)``, which is several times faster for each value.
  @discardableResult
  public mutating func insert<E: Entity>(
    _ value: E, onConflict: MergePolicy<E> = .fail, matching: RecordMatching<E>? = nil
  ) throws(StoreError) -> E {
    let entity = try core.entity(E.self)
    try check(isNew: value, entity)
    let rule = try onConflict.rule(in: entity)
    if case .fail = rule {
      try entity.part?.checkNew(entity.name)
      let changes = core.changes(of: entity)
      let id = try changes.insert(try changes.encode(value))
      var stored = value
      stored.id = RecordID(rawValue: id)
      return stored
    }
    var batch = IncomingRecords(entity.layout)
    let record = try core.changes(of: entity).encode(value)
    batch.append(record.content, given: entity.part?.isGiven)
    let merge = try BatchMerge(
      batch, into: entity, matching: try entity.matching(matching), rule: rule, core: core)
    let id = try merge.applyAlone().id()
    guard let stored: E = try fetch(RecordID(rawValue: id)) else {
      throw .noSuchRecord(entity: entity.name, id: id)
    }
    return stored
  }

  /// Inserts `value`, or updates the stored record that has its unique key; returns the stored
  /// record.
  ///
  ///     try tx.upsert(film, matching: .unique(\.episode))
  ///
  /// An updated record keeps its id. An entity with one unique index needs no `matching`. With
  /// several, and without `matching`, all keys of `value` must agree on one record. Otherwise the
  /// call throws ``StoreError/Code/uniqueViolation``, which names the record of each key, and
  /// writes nothing.
  ///
  /// The call equals ``insert(_:onConflict:matching:)`` with ``MergePolicy/replace``.
  @discardableResult
  public mutating func upsert<E: Entity>(
    _ value: E, matching: RecordMatching<E>? = nil
  ) throws(StoreError) -> E {
    try insert(value, onConflict: .replace, matching: matching)
  }

  /// Updates the record with `value`'s id to `value`; returns false when the values are already
  /// equal.
  ///
  /// - Throws: ``StoreError/Code/noSuchRecord``, ``StoreError/Code/uniqueViolation``,
  ///   ``StoreError/Code/invalidValue``. After an error nothing was written, and the transaction
  ///   can continue.
  @discardableResult
  public mutating func update<E: Entity>(_ value: E) throws(StoreError) -> Bool {
    let entity = try core.entity(E.self)
    guard value.id.isAssigned else { throw .notStored(entity: entity.name) }
    let id = value.id.rawValue
    let changes = core.changes(of: entity)
    return try changes.update(id, to: try changes.encode(value, over: id))
  }

  /// Changes one record: reads it, passes it to `change`, and stores the result.
  ///
  ///     try tx.modify(id) { $0.kind = .guess }
  ///
  /// - Returns: the stored record.
  /// - Throws: ``StoreError/Code/noSuchRecord``; ``StoreError/Code/invalidID`` when `change`
  ///   assigns another id; the errors of `change` and of ``update(_:)``.
  @discardableResult
  public mutating func modify<E: Entity>(
    _ id: RecordID<E>, _ change: (inout E) throws -> Void
  ) throws -> E {
    guard var value: E = try fetch(id) else {
      throw StoreError.noSuchRecord(entity: try core.entity(E.self).name, id: id.rawValue)
    }
    try change(&value)
    // If `change` has replaced the whole value, the new value has no id yet.
    if !value.id.isAssigned { value.id = id }
    guard value.id == id else {
      throw StoreError.otherID(
        value.id.rawValue, of: id.rawValue, entity: try core.entity(E.self).name)
    }
    try update(value)
    return value
  }

  /// Changes the record with the values of `key`; see ``modify(_:_:)-(RecordID<E>,_)``.
  ///
  ///     try tx.modify(Film.key(episode: 4)) { $0.title = "Star Wars" }
  ///
  /// - Returns: the stored record; `nil` when there is no such record.
  @discardableResult
  public mutating func modify<E: Entity>(
    _ key: EntityKey<E>, _ change: (inout E) throws -> Void
  ) throws -> E? {
    guard let id = try core.firstRecord(with: key) else { return nil }
    return try modify(RecordID<E>(rawValue: id), change)
  }

  /// Deletes the record with `id`; returns whether it existed.
  @discardableResult
  public mutating func delete<E: Entity>(_ id: RecordID<E>) throws(StoreError) -> Bool {
    let core = core
    let entity = try core.entity(E.self)
    return try core.asOneCall("delete") { () throws(StoreError) in
      try core.delete(id.rawValue, of: entity)
    }
  }

  /// Deletes the record from which `value` was read; returns whether it existed.
  @discardableResult
  public mutating func delete<E: Entity>(_ value: E) throws(StoreError) -> Bool {
    try delete(value.id)
  }

  /// Deletes the record with the values of `key`; returns whether it existed.
  @discardableResult
  public mutating func delete<E: Entity>(_ key: EntityKey<E>) throws(StoreError) -> Bool {
    guard let id = try core.firstRecord(with: key) else { return false }
    return try delete(RecordID<E>(rawValue: id))
  }

  /// Deletes the records with `ids`; returns the number of existing ones.
  @discardableResult
  public mutating func delete<E: Entity>(
    _ ids: some Sequence<RecordID<E>>
  ) throws(StoreError) -> Int {
    let entity = try core.entity(E.self)
    var sorted = ids.map(\.rawValue)
    IDSort.sort(&sorted)
    let core = core
    return try core.asOneCall("delete") { [sorted] () throws(StoreError) in
      try core.delete(sorted, of: entity)
    }
  }

  func check<E: Entity>(isNew value: E, _ entity: StoredEntity) throws(StoreError) {
    guard !value.id.isAssigned else {
      throw .alreadyStored(entity: entity.name, id: value.id.rawValue)
    }
  }
}
