internal import LodestoreFormat

/// The contents of an ``InsertResult``.
#if hasAttribute(nonexhaustive)
  @nonexhaustive
#endif
public enum InsertReturning: Sendable {
  /// The insert returns counts and ids.
  case ids
  /// The insert returns only counts.
  case counts
}

/// The outcome of a batch insert.
public struct InsertResult<E: Entity>: Sendable {
  /// The ids of the new or found records, in the order of the values; empty when only counts were
  /// requested.
  public var ids: RecordIDs<E> { RecordIDs(list: counts.ids) }
  /// The number of new records.
  public var insertedCount: Int { counts.inserted }
  /// The number of stored records whose values changed.
  public var updatedCount: Int { counts.updated }
  /// The number of stored records whose values stayed equal.
  public var unchangedCount: Int { counts.unchanged }
  /// The number of values that the merge policy left out in favour of stored records.
  public var ignoredCount: Int { counts.ignored }

  /// The number of values.
  public var count: Int { insertedCount + updatedCount + unchangedCount + ignoredCount }

  var counts: InsertCounts
}

extension InsertResult: CustomStringConvertible {
  /// The counts as text, such as "2 inserted, 1 updated, 0 unchanged, 0 ignored".
  public var description: String {
    "\(insertedCount) inserted, \(updatedCount) updated, \(unchangedCount) unchanged, "
      + "\(ignoredCount) ignored"
  }
}

extension WriteTransaction {
  /// Inserts many records in one step.
  ///
  /// Stored records are found in one pass, and index entries are written in key order. A batch is
  /// faster than single inserts, and the advantage grows with its size.
  ///
  /// - Throws: the errors of ``insert(_:onConflict:matching:)``; ``StoreError/batchPosition`` is
  ///   the position of the refused value. With ``MergePolicy/fail`` nothing of the batch is
  ///   stored, and the transaction can continue. With another policy, other values of the batch
  ///   may be stored.
  /// - Complexity: O(*k* log *k*) for *k* values, and a visit of each affected index page. With
  ///   ``MergePolicy/fail``, the index entries of the whole call are sorted together: in memory
  ///   up to ``StoreOptions/batchMemoryInBytes``, beyond it in a scratch file. With another policy,
  ///   values are encoded and merged in parts that fit into this memory.
  @discardableResult
  @inlinable
  public mutating func insert<E: Entity>(
    _ values: some Sequence<E>, onConflict: MergePolicy<E> = .fail,
    matching: RecordMatching<E>? = nil, returning: InsertReturning = .ids
  ) throws(StoreError) -> InsertResult<E> {
    try withBatch(
      of: E.self, count: values.underestimatedCount, onConflict: onConflict, matching, returning
    ) { (batch) throws(StoreError) in
      // Values in contiguous memory are encoded without copying them.
      let outcome = values.withContiguousStorageIfAvailable { values -> Result<Void, StoreError> in
        do throws(StoreError) {
          try batch.add(contentsOf: values)
          return .success(())
        } catch {
          return .failure(error)
        }
      }
      if let outcome {
        try outcome.get()
      } else {
        for value in values { try batch.add(value) }
      }
    }
  }

  /// Inserts the values that `body` adds to a batch.
  @usableFromInline
  func withBatch<E: Entity>(
    of _: E.Type, count: Int, onConflict: MergePolicy<E>, _ matching: RecordMatching<E>?,
    _ returning: InsertReturning, _ body: (EntityBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> InsertResult<E> {
    let core = core
    let entity = try core.entity(E.self)
    let matching = try entity.matching(matching)
    let rule = try onConflict.rule(in: entity)
    return try wrappingErrors {
      let counts = try core.withBatchInsert(
        into: entity, matching: matching, rule, expectedCount: count, keepsIDs: returning == .ids
      ) { insert in
        let batch = EntityBatch(into: entity, insert, core: core)
        do throws(StoreError) {
          try body(batch)
        } catch {
          throw batch.located(error)
        }
        return try batch.finish()
      }
      return InsertResult(counts: counts)
    }
  }

  /// Inserts records from dictionaries by attribute names, in one step.
  ///
  ///     try tx.insert(Film.self, dictionaries: rows, onConflict: .patch())
  ///
  /// With ``MergePolicy/patch(_:)``, an attribute that a dictionary lacks keeps the stored
  /// value. In a new record it has its initial value, or null. Whole numbers are converted for
  /// attributes of other widths and for fractions, if they fit exactly. Enumerations take raw
  /// values. Arrays, dictionaries and nested structs take a `JSONValue`.
  ///
  /// - Throws: the errors of ``insert(_:onConflict:matching:returning:)``.
  ///   ``StoreError/Code/unstorableValue`` for an unknown attribute name, a value of another type,
  ///   a raw value of no case, and a new record without a required attribute.
  @discardableResult
  public mutating func insert<E: Entity>(
    _ type: E.Type, dictionaries: some Sequence<[String: any AttributeValue]>,
    onConflict: MergePolicy<E> = .fail,
    matching: RecordMatching<E>? = nil, returning: InsertReturning = .ids
  ) throws(StoreError) -> InsertResult<E> {
    var rows = dictionaries.makeIterator()
    do {
      return try insert(type, onConflict: onConflict, matching: matching, returning: returning) {
        (draft: inout RecordDraft<E>) throws in
        guard let row = rows.next() else { return true }
        try draft.take(row)
        return false
      }
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// Inserts records from a dictionary that `fill` fills for each record, until it returns true.
  ///
  ///     try tx.insert(Film.self) { (row: inout [String: any AttributeValue]) in
  ///       guard let line = lines.next() else { return true }
  ///       row["title"] = line.title
  ///       row["episode"] = line.episode
  ///       return false
  ///     }
  ///
  /// The dictionary is empty at each call. The call that returns true inserts nothing.
  ///
  /// - Throws: the errors of ``insert(_:dictionaries:onConflict:matching:returning:)``, and the
  ///   errors of `fill`.
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

  /// Inserts records from a draft that `fill` fills for each record, until it returns true.
  ///
  ///     try tx.insert(Film.self, onConflict: .patch()) { draft in
  ///       guard let line = lines.next() else { return true }
  ///       draft.title = line.title
  ///       draft.episode = line.episode
  ///       return false
  ///     }
  ///
  /// The draft is empty at each call. The call that returns true inserts nothing. The draft notes
  /// which attributes were assigned. With ``MergePolicy/patch(_:)`` the others keep their stored
  /// values. In a new record they have their initial values, or null.
  ///
  /// - Throws: the errors of ``insert(_:dictionaries:onConflict:matching:returning:)``, and the
  ///   errors of `fill`.
  @discardableResult
  public mutating func insert<E: Entity>(
    _ type: E.Type, onConflict: MergePolicy<E> = .fail,
    matching: RecordMatching<E>? = nil, returning: InsertReturning = .ids,
    fillingRecord fill: (inout RecordDraft<E>) throws -> Bool
  ) throws -> InsertResult<E> {
    let core = core
    let entity = try core.entity(E.self)
    let rule = try onConflict.rule(in: entity)
    let counts = try core.withBatchInsert(
      into: entity, matching: try entity.matching(matching), rule, expectedCount: 0,
      keepsIDs: returning == .ids
    ) { insert in
      var insert = insert
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
      } catch let error as StoreError where error.isOfValue {
        throw error.inBatch(at: position)
      }
      return try insert.finish()
    }
    return InsertResult(counts: counts)
  }
}

extension MergeRule {
  /// Whether an incoming record may lack required attributes; the stored record then keeps its
  /// values of them.
  var takesParts: Bool {
    switch self {
    case .patchGiven: true
    case .policy(let policies): policies.takesParts
    case .fail, .ignore, .replace, .reinsert, .patch, .closure: false
    }
  }
}

extension StoredEntity {
  /// The attribute that stores the property `path` of `type`.
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
  /// Calls `body` with both records as values of `E`, and encodes the returned value.
  func merged<E: Entity>(_: E.Type, _ body: (E, E) throws -> E) throws -> RecordBytes {
    let old = try core.decode(E.self, stored.bytes, id: id, of: entity)
    let new = try core.withDecodingLayout(incoming, id: id, of: entity) {
      (view) throws(StoreError) in
      try core.decode(E.self, view, id: id, of: entity)
    }
    let merged = try body(old, new)
    return RecordBytes(try core.changes(of: entity).encode(merged, over: id))
  }
}
