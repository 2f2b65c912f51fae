internal import LodestoreBytes
internal import LodestoreFormat

/// Records that are to be written.
///
/// Each is in memory of this object or of the transaction, and valid until the next one is made.
extension EntityChanges {
  /// Encodes a value of the program, with stored values for attributes that its type does not declare.
  ///
  /// - Parameter id: of the record that it is to replace; `nil` for a new one.
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

  /// Encodes values, which are in the order of the current layout.
  func encode(_ values: [Value]) throws(StoreError) -> UnsealedRecord {
    let record = try entity.record(of: values)
    try core.writer.checkSize(record.contentCount, of: entity)
    return copy(record)
  }

  /// A copy of a whole record of the current layout.
  func copy(_ record: ByteView) -> UnsealedRecord { scratch.take(record) }

  func copy(_ record: RecordBytes) -> UnsealedRecord { record.withBytes { scratch.take($0) } }

  /// A copy of a stored record in the current layout.
  func copy(of stored: RecordView, id: UInt64) throws(StoreError) -> UnsealedRecord {
    if stored.layout === entity.layout { return scratch.take(stored.bytes) }
    return try core.carriedOver(stored, id: id, of: entity)._withBytes { scratch.take($0) }
  }

  // MARK: Derived attributes

  /// The record with its derived attributes worked out; `record` itself where it has them right.
  ///
  /// - Parameter old: the record that it takes the place of; `nil` for a new one.
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

  /// The same for a record that comes back under the id that it had.
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
