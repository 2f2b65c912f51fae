internal import LodestoreFormat

/// Encodes entities as the contents of records.
///
/// One for many records; not for two threads at once.
final class RecordEncoder {
  /// In memory of its own: each write of an attribute would otherwise be checked for exclusive
  /// access to this object.
  let writer: UnsafeMutablePointer<RecordWriter>
  private let sizeLimit: Int

  /// - Parameter byteCount: what there is room for at first.
  init(sizeLimit: Int, byteCount: Int = 4096) {
    self.sizeLimit = min(sizeLimit, 1 << 30)
    writer = .allocate(capacity: 1)
    writer.initialize(to: RecordWriter(byteCount: byteCount))
  }

  /// Another one for the same store, with room for a row of records.
  func forRows() -> RecordEncoder {
    RecordEncoder(sizeLimit: sizeLimit, byteCount: RecordRow.memorySize)
  }

  deinit {
    writer.deinitialize(count: 1)
    writer.deallocate()
  }

  /// The record's content, valid until the next record is encoded; four bytes behind it are free.
  func encode<E: Entity>(
    _ value: E, of entity: StoredEntity
  ) throws(StoreError) -> UnsafeMutableRawBufferPointer {
    writer.pointee.begin(entity.typeLayout, isWide: false)
    value.encode(into: &writer.pointee)
    if let content = try finish(entity) { return content }
    writer.pointee.begin(entity.typeLayout, isWide: true)
    value.encode(into: &writer.pointee)
    guard let content = try finish(entity) else {
      throw .recordTooLarge(entity: entity.name, size: 0, limit: 0)
    }
    return content
  }

  /// The content of the record that ``writer`` has been given; `nil` when it must be written once
  /// more with wide offsets.
  func finish(_ entity: StoredEntity) throws(StoreError) -> UnsafeMutableRawBufferPointer? {
    let content = writer.pointee.finish(entity.typeLayout, entity: entity.name)
    if content == nil, writer.pointee.failure == nil { return nil }
    if let failure = writer.pointee.failure {
      if let failure = failure as? UnassignedID {
        throw .unassignedID(entity, slot: failure.slot)
      }
      throw .unencodable(entity: entity.name, cause: failure)
    }
    guard let content else { return nil }
    try checkSize(content.count, of: entity)
    return content
  }

  /// The most that a record may have without its checksum.
  var largestContent: Int { sizeLimit - RecordLayout.checksumSize }

  func checkSize(_ count: Int, of entity: StoredEntity) throws(StoreError) {
    guard count + RecordLayout.checksumSize <= sizeLimit else {
      throw .recordTooLarge(entity: entity.name, size: count, limit: sizeLimit)
    }
  }
}
