internal import LodestoreFormat

/// Encodes entities as the contents of records.
///
/// One for many records; not for two threads at once.
final class RecordEncoder {
  /// In memory of its own: each write of an attribute would otherwise be checked for exclusive
  /// access to this object.
  private let writer: UnsafeMutablePointer<RecordWriter>
  private let sizeLimit: Int

  init(sizeLimit: Int) {
    self.sizeLimit = min(sizeLimit, 1 << 30)
    writer = .allocate(capacity: 1)
    writer.initialize(to: RecordWriter())
  }

  deinit {
    writer.deinitialize(count: 1)
    writer.deallocate()
  }

  /// The record's content, valid until the next record is encoded; four bytes behind it are free.
  func encode<E: Entity>(
    _ value: E, of entity: StoredEntity
  ) throws(StoreError) -> UnsafeMutableRawBufferPointer {
    var content: UnsafeMutableRawBufferPointer?
    var isWide = false
    while content == nil {
      writer.pointee.begin(entity.layout, isWide: isWide)
      value.encode(into: &writer.pointee)
      content = writer.pointee.finish(entity.layout, entity: entity.name)
      isWide = true
    }
    if let failure = writer.pointee.failure {
      throw .unencodable(entity: entity.name, cause: failure)
    }
    guard let content else { throw .recordTooLarge(entity: entity.name, size: 0, limit: 0) }
    try checkSize(content.count, of: entity)
    return content
  }

  func checkSize(_ count: Int, of entity: StoredEntity) throws(StoreError) {
    guard count + RecordLayout.checksumSize <= sizeLimit else {
      throw .recordTooLarge(entity: entity.name, size: count, limit: sizeLimit)
    }
  }
}
