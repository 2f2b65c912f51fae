internal import LodestoreFormat

// Encoding of entities.
extension RecordWriter {
  /// The record of `value`, valid until the next record begins.
  mutating func encode<E: Entity>(
    _ value: E, of entity: StoredEntity
  ) throws(StoreError) -> UnsealedRecord {
    begin(entity.encodingLayout, isWide: false)
    value.encode(into: &self)
    if let record = try finish(entity) { return record }
    begin(entity.encodingLayout, isWide: true)
    value.encode(into: &self)
    if let record = try finish(entity) { return record }
    throw .recordTooLarge(entity: entity.name, size: 0, limit: 0)
  }

  /// Returns the written record, or `nil` when it must be encoded again with wide offsets.
  mutating func finish(_ entity: StoredEntity) throws(StoreError) -> UnsealedRecord? {
    let content = finish(entity.encodingLayout, entity: entity.name)
    if let failure {
      if let failure = failure as? UnassignedID { throw .unassignedID(entity, slot: failure.slot) }
      throw .unencodable(entity: entity.name, cause: failure)
    }
    guard let content else { return nil }
    try checkSize(content.count, of: entity)
    return UnsealedRecord(content: content, uses.current)
  }

  /// The maximum size of a record in bytes, without its checksum.
  var largestContent: Int { sizeLimit - RecordLayout.checksumSize }

  func checkSize(_ count: Int, of entity: StoredEntity) throws(StoreError) {
    let size = count + RecordLayout.checksumSize
    guard size <= sizeLimit else {
      throw .recordTooLarge(entity: entity.name, size: size, limit: sizeLimit)
    }
  }
}
