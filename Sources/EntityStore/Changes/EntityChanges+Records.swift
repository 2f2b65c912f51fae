internal import LodestoreBytes
internal import LodestoreFormat

/// Creation of the records to be written.
///
/// A created record is in memory of this object or of the transaction, and is valid until the next
/// record is created.
extension EntityChanges {
  /// Encodes a value of the program; undeclared attributes take their stored values.
  ///
  /// - Parameter id: the id of the record to be replaced; `nil` for a new record.
  func encode<E: Entity>(
    _ value: E, over id: UInt64? = nil
  ) throws(StoreError) -> UnsealedRecord {
    let record = try core.writer.encode(value, of: entity)
    guard let part = entity.part else { return record }
    var stored: [Value]?
    if let id {
      stored = try values(of: id)
      if stored == nil { throw .noSuchRecord(entity: entity.name, id: id) }
    }
    return try encode(try part.completed(record.raw, over: stored, id: id ?? 0, of: entity))
  }

  /// Encodes values in the order of the current layout.
  func encode(_ values: [Value]) throws(StoreError) -> UnsealedRecord {
    let record = try entity.record(of: values)
    try core.writer.checkSize(record.contentCount, of: entity)
    return copy(record)
  }

  /// Copies a whole record of the current layout.
  func copy(_ record: ByteView) -> UnsealedRecord { scratch.take(record) }

  func copy(_ record: RecordBytes) -> UnsealedRecord { record.withBytes { scratch.take($0) } }

  /// Copies a stored record, converting it to the current layout.
  func copy(of stored: RecordView, id: UInt64) throws(StoreError) -> UnsealedRecord {
    if stored.layout === entity.layout { return scratch.take(stored.bytes) }
    return try core.carriedOver(stored, id: id, of: entity)._withBytes { scratch.take($0) }
  }

  // MARK: Derived attributes

  /// Returns the record with computed derived attributes; `record` itself when they are already
  /// correct.
  ///
  /// - Parameter old: the record to be replaced; `nil` for a new record.
  @inline(__always)
  func derived(
    _ record: UnsealedRecord, over old: StoredRecord? = nil
  ) throws(StoreError) -> UnsealedRecord {
    guard let derivations = entity.derivations else { return record }
    return try derived(record, over: old, derivations)
  }

  @inline(never)
  private func derived(
    _ record: UnsealedRecord, over old: StoredRecord?, _ derivations: RecordDerivations
  ) throws(StoreError) -> UnsealedRecord {
    guard let old else { return try derived(record, .insert, derivations) }
    let before = try entity.values(of: old.view, id: old.id)
    return try derived(record, .update(over: before), derivations)
  }

  /// Returns a record that an undo restores, with recomputed derived attributes.
  func restored(_ record: UnsealedRecord) throws(StoreError) -> UnsealedRecord {
    guard let derivations = entity.derivations else { return record }
    return try derived(record, .restore, derivations)
  }

  private func derived(
    _ record: UnsealedRecord, _ occasion: RecordDerivations.Occasion,
    _ derivations: RecordDerivations
  ) throws(StoreError) -> UnsealedRecord {
    let before = try entity.values(of: try entity.view(record), id: 0)
    var values = before
    try derivations.derive(&values, occasion, of: entity, time: core.time)
    if zip(values, before).allSatisfy({ $0.hasSameBytes(as: $1) }) { return record }
    return try encode(values)
  }
}
