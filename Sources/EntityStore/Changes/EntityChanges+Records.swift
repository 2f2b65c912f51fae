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
  func encode<E: Entity>(_ value: E, over id: UInt64? = nil) throws(StoreError) -> UnsealedRecord {
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

  /// Copies a stored record after verifying it, and converts it to the current layout.
  func copy(of stored: StoredRecord) throws(StoreError) -> UnsealedRecord {
    try verify(stored)
    let view = stored.view
    if view.layout === entity.layout { return scratch.take(view.bytes) }
    return try core.carriedOver(view, id: stored.id, of: entity)._withBytes { scratch.take($0) }
  }
}
