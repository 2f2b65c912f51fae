internal import LodestoreBytes
internal import LodestoreFormat

/// A record that is about to be written, with computed derived attributes.
///
/// Only this file creates it, and only such records are sealed. The bytes are valid as long as
/// those of the ``UnsealedRecord``.
struct DerivedRecord {
  let record: UnsealedRecord

  @inline(__always)
  fileprivate init(_ record: UnsealedRecord) {
    assert(!record.isStale, "a record is derived before the next one is created")
    self.record = record
  }
}

/// Incoming records with the derived attributes of new records.
///
/// Only this file creates them.
struct DerivedRecords {
  let records: IncomingRecords

  fileprivate init(_ records: IncomingRecords) { self.records = records }
}

extension EntityChanges {
  /// Returns the record with computed derived attributes; `record` itself when they are already
  /// correct.
  ///
  /// - Parameter old: the record to be replaced; `nil` for a new record.
  @inline(__always)
  func derived(
    _ record: UnsealedRecord, over old: StoredRecord? = nil
  ) throws(StoreError) -> DerivedRecord {
    guard let derivations = entity.derivations else { return DerivedRecord(record) }
    return try derived(record, over: old, derivations)
  }

  @inline(never)
  private func derived(
    _ record: UnsealedRecord, over old: StoredRecord?, _ derivations: RecordDerivations
  ) throws(StoreError) -> DerivedRecord {
    guard let old else { return try derived(record, .insert, derivations) }
    return try derived(record, .update(over: try values(of: old)), derivations)
  }

  /// Returns the record with computed derived attributes, for a record restored under its old id.
  func restored(_ record: UnsealedRecord) throws(StoreError) -> DerivedRecord {
    guard let derivations = entity.derivations else { return DerivedRecord(record) }
    return try derived(record, .restore, derivations)
  }

  private func derived(
    _ record: UnsealedRecord, _ occasion: RecordDerivations.Occasion,
    _ derivations: RecordDerivations, only numbers: Set<UInt32>? = nil
  ) throws(StoreError) -> DerivedRecord {
    let before = try entity.values(of: try entity.view(record), id: 0)
    var values = before
    try derivations.derive(&values, occasion, of: entity, only: numbers, time: core.time)
    if zip(values, before).allSatisfy({ $0.hasSameBytes(as: $1) }) { return DerivedRecord(record) }
    return DerivedRecord(try encode(values))
  }

  /// Copies a record of another store, which has computed its derived attributes.
  ///
  /// The record has the checksum of that store, and is converted to the current layout.
  func replayed(_ view: RecordView, id: UInt64) throws(StoreError) -> DerivedRecord {
    assert(core.purpose == .replay, "only a copy takes the derived attributes of another store")
    return DerivedRecord(try copy(of: try stored(view.bytes, id: id)))
  }

  /// Returns the records with the derived attributes of new records.
  func derived(_ batch: IncomingRecords) throws(StoreError) -> DerivedRecords {
    guard let derivations = entity.derivations else { return DerivedRecords(batch) }
    var all = IncomingRecords(entity.layout)
    for position in 0..<batch.count {
      let isGiven = entity.layout.attributes.indices.map { index in
        batch.isGiven(index, at: position) && !derivations.isDerived[index]
      }
      all.append(try derived(copy(batch[position])).record.content, given: isGiven)
    }
    return DerivedRecords(all)
  }

  // MARK: Some attributes

  /// Returns the record in which some attributes of a stored record were set.
  @inline(__always)
  func derived(
    _ record: UnsealedRecord, over old: StoredRecord, setting attributes: SetAttributes
  ) throws(StoreError) -> DerivedRecord {
    guard attributes.derives, let derivations = entity.derivations else {
      return DerivedRecord(record)
    }
    let occasion = RecordDerivations.Occasion.update(over: try values(of: old))
    return try derived(record, occasion, derivations, only: attributes.numbers)
  }

  /// Encodes the values in which some attributes of a stored record were set.
  ///
  /// - Parameter before: the values of the stored record.
  func derived(
    _ values: [Value], over before: [Value], setting attributes: SetAttributes
  ) throws(StoreError) -> DerivedRecord {
    var values = values
    if attributes.derives {
      try entity.derivations?.derive(
        &values, .update(over: before), of: entity, only: attributes.numbers, time: core.time)
    }
    return DerivedRecord(try encode(values))
  }

  // MARK: Stages

  /// Encodes values of a stage, whose derived attributes are computed at the end of the opening.
  func ofStage(_ values: [Value]) throws(StoreError) -> DerivedRecord {
    precondition(!core.checksRules, "a write outside of stages computes derived attributes")
    return DerivedRecord(try encode(values))
  }
}
