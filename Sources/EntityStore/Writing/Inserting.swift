internal import LodestoreFormat

/// The contents of an ``InsertResult``.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum InsertReturning: Sendable {
  /// Counts and ids.
  case ids
  /// Counts alone.
  case counts
}

/// The outcome of a batch insert.
public struct InsertResult<E: Entity>: Sendable {
  /// The ids of the records, new or found, in the order of the values; empty when only counts were
  /// asked for.
  public var ids: RecordIDs<E> { RecordIDs(list: counts.ids) }
  /// How many records are new.
  public var insertedCount: Int { counts.inserted }
  /// How many stored records have other values now.
  public var updatedCount: Int { counts.updated }
  /// How many stored records had these values already.
  public var unchangedCount: Int { counts.unchanged }
  /// How many values were left out, as the policy says.
  public var ignoredCount: Int { counts.ignored }

  /// How many values were given.
  public var count: Int { insertedCount + updatedCount + unchangedCount + ignoredCount }

  var counts: InsertCounts
}

extension InsertResult: CustomStringConvertible {
  /// The counts, as "2 inserted, 1 updated, 0 unchanged, 0 ignored".
  public var description: String {
    "\(insertedCount) inserted, \(updatedCount) updated, \(unchangedCount) unchanged, "
      + "\(ignoredCount) ignored"
  }
}

extension WriteTransaction {
  /// Stores many new records, as one step.
  ///
  /// Stored records are found in one pass, and index entries are written in key order. A batch is
  /// faster than its single inserts, the more so the larger it is.
  ///
  /// - Throws: as ``insert(_:onConflict:matching:)``; ``StoreError/batchPosition`` says which value was
  ///   refused. With ``MergePolicy/fail`` nothing of the batch remains, and the transaction can go on.
  ///   With another policy other values of the batch may be stored.
  /// - Complexity: O(*k* log *k*) for *k* values, and a visit of each index page concerned. With
  ///   ``MergePolicy/fail`` the index entries of the whole call are sorted together: in memory up to
  ///   ``StoreOptions/batchMemoryInBytes``, beyond it in a scratch file. With another policy values
  ///   are encoded and merged in parts that this memory has room for.
  @discardableResult
  @inlinable
  public mutating func insert<E: Entity>(
    _ values: some Sequence<E>, onConflict: MergePolicy<E> = .fail,
    matching: RecordMatching<E>? = nil, returning: InsertReturning = .ids
  ) throws(StoreError) -> InsertResult<E> {
    let batch = try batch(
      of: E.self, count: values.underestimatedCount, onConflict: onConflict, matching, returning)
    do throws(StoreError) {
      // Values in contiguous memory are encoded without copying them.
      let failure = values.withContiguousStorageIfAvailable { values -> StoreError? in
        do throws(StoreError) {
          try batch.add(contentsOf: values)
          return nil
        } catch {
          return error
        }
      }
      if let failure {
        if let failure { throw failure }
      } else {
        for value in values { try batch.add(value) }
      }
    } catch {
      let located = batch.located(error)
      try batch.takeBack()
      throw located
    }
    return try batch.finish(E.self)
  }

  @usableFromInline
  func batch<E: Entity>(
    of _: E.Type, count: Int, onConflict: MergePolicy<E>, _ matching: RecordMatching<E>?,
    _ returning: InsertReturning
  ) throws(StoreError) -> EntityBatch {
    let entity = try core.entity(E.self)
    let insert = try BatchInsert(
      into: entity, matching: try entity.matching(matching), rule: try onConflict.rule(in: entity),
      core: core, expectedCount: count, keepsIDs: returning == .ids)
    return EntityBatch(into: entity, insert, core: core)
  }

  /// Stores records from dictionaries by attribute names, as one step.
  ///
  ///     try tx.insert(Film.self, dictionaries: rows, onConflict: .patch())
  ///
  /// An attribute that a dictionary lacks keeps the stored value with ``MergePolicy/patch(_:)``;
  /// in a new record it has its initial value, or null. Whole numbers are taken for attributes of
  /// other widths and for fractions where they fit exactly, raw values for enumerations, and
  /// `JSONValue` for arrays, dictionaries and nested structs.
  ///
  /// - Throws: as ``insert(_:onConflict:matching:returning:)``.
  ///   ``StoreError/Code/unstorableValue`` for a name that is no attribute, a value of another type,
  ///   a raw value that is no case, and a required attribute that a new record lacks.
  @discardableResult
  public mutating func insert<E: Entity>(
    _ type: E.Type, dictionaries: some Sequence<[String: any AttributeValue]>,
    onConflict: MergePolicy<E> = .fail,
    matching: RecordMatching<E>? = nil, returning: InsertReturning = .ids
  ) throws(StoreError) -> InsertResult<E> {
    var rows = dictionaries.makeIterator()
    do {
      return try insert(
        type, onConflict: onConflict, matching: matching, returning: returning
      ) {
        (draft: inout RecordDraft<E>) throws in
        guard let row = rows.next() else { return true }
        try draft.take(row)
        return false
      }
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// Stores records from a dictionary that `fill` fills, one a call, until it returns true.
  ///
  ///     try tx.insert(Film.self) { (row: inout [String: any AttributeValue]) in
  ///       guard let line = lines.next() else { return true }
  ///       row["title"] = line.title
  ///       row["episode"] = line.episode
  ///       return false
  ///     }
  ///
  /// The dictionary is empty at each call; the call that returns true inserts nothing.
  ///
  /// - Throws: as ``insert(_:dictionaries:onConflict:matching:returning:)``, and the errors of `fill`.
  @discardableResult
  public mutating func insert<E: Entity>(
    _ type: E.Type, onConflict: MergePolicy<E> = .fail,
    matching: RecordMatching<E>? = nil, returning: InsertReturning = .ids,
    fillingDictionary fill: (inout [String: any AttributeValue]) throws -> Bool
  ) throws -> InsertResult<E> {
    try insert(type, onConflict: onConflict, matching: matching, returning: returning) {
      (draft: inout RecordDraft<E>) throws in
      var dictionary: [String: any AttributeValue] = [:]
      if try fill(&dictionary) { return true }
      try draft.take(dictionary)
      return false
    }
  }

  /// Stores records from a draft that `fill` fills, one a call, until it returns true.
  ///
  ///     try tx.insert(Film.self, onConflict: .patch()) { draft in
  ///       guard let line = lines.next() else { return true }
  ///       draft.title = line.title
  ///       draft.episode = line.episode
  ///       return false
  ///     }
  ///
  /// Nothing is assigned in the draft of each call; the call that returns true inserts nothing. The draft
  /// knows which attributes were assigned: with ``MergePolicy/patch(_:)`` the others keep
  /// their stored values, and in a new record they have their initial values or null.
  ///
  /// - Throws: as ``insert(_:dictionaries:onConflict:matching:returning:)``, and the errors of `fill`.
  @discardableResult
  public mutating func insert<E: Entity>(
    _ type: E.Type, onConflict: MergePolicy<E> = .fail,
    matching: RecordMatching<E>? = nil, returning: InsertReturning = .ids,
    fillingRecord fill: (inout RecordDraft<E>) throws -> Bool
  ) throws -> InsertResult<E> {
    let entity = try core.entity(E.self)
    let rule = try onConflict.rule(in: entity)
    var insert = try BatchInsert(
      into: entity, matching: try entity.matching(matching), rule: rule, core: core,
      expectedCount: 0, keepsIDs: returning == .ids)
    var draft = RecordDraft<E>(entity)
    var position = 0
    do {
      while true {
        draft.begin()
        if try fill(&draft) { break }
        let record = try draft.record(isPart: rule.takesParts)
        try core.writer.checkSize(record.content.count, of: entity)
        try insert.add(
          record, given: rule.takesParts ? draft.isGiven : entity.part?.isGiven)
        position += 1
      }
    } catch {
      try insert.takeBack()
      guard let error = error as? StoreError, error.isOfValue else { throw error }
      throw error.inBatch(at: position)
    }
    return InsertResult(counts: try insert.finish())
  }
}

extension MergeRule {
  /// Whether a record may lack required attributes; the stored values of those are kept.
  var takesParts: Bool {
    switch self {
    case .patchGiven: true
    case .policy(let policies): policies.takesParts
    case .fail, .ignore, .replace, .renew, .patch, .closure: false
    }
  }
}

extension StoredEntity {
  /// The attribute that `type` keeps at `path`.
  func attribute<E: Entity>(
    at path: AnyKeyPath, of type: E.Type
  ) throws(StoreError) -> EntityDescription.Attribute {
    guard let position = E.schema.index(of: path),
      let attribute = description.attribute(named: E.schema.attributes[position].name)
    else { throw .badSchema(entity: name, "\(path) is no attribute of it") }
    return attribute
  }
}

extension MergeInput {
  /// Calls `body` with both records as values of `E`, and encodes the value that it returns.
  func merged<E: Entity>(_: E.Type, _ body: (E, E) throws -> E) throws -> RecordBytes {
    let old = try core.decode(E.self, stored.bytes, id: id, of: entity)
    let new = try core.withReadLayout(incoming, id: id, of: entity) { (view) throws(StoreError) in
      try core.decode(E.self, view, id: id, of: entity)
    }
    let merged = try body(old, new)
    return RecordBytes(try core.changes(of: entity).encode(merged, over: id))
  }
}
