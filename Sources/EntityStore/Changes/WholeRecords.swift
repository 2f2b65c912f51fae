internal import LodestoreFormat

extension WriteCore {
  /// Calls `body` with the whole content for `value`; four bytes behind it are free.
  ///
  /// - Parameter id: of the record that it is to replace; `nil` for a new one.
  func withWhole<E: Entity, R>(
    _ value: E, of entity: StoredEntity, over id: UInt64? = nil,
    _ body: (UnsafeMutableRawBufferPointer) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let content = try encode(value, of: entity)
    guard let part = entity.part else { return try body(content) }
    var stored: RecordView?
    if let id {
      guard let bytes = try record(id, of: entity) else {
        throw .noSuchRecord(entity: entity.name, id: id)
      }
      stored = try changes(of: entity).stored(bytes, id: id, isCarriedOver: true)
    }
    var whole = try part.completed(
      UnsafeRawBufferPointer(content), over: stored, id: id ?? 0, of: entity)
    try checkSize(whole.count - RecordLayout.checksumSize, of: entity)
    return try whole.withMutableBytes { (bytes) throws(StoreError) in
      try body(bytes.recordContent)
    }
  }
}

extension UnsafeMutableRawBufferPointer {
  /// The content of a whole record: its bytes without the checksum.
  @inline(__always)
  var recordContent: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(rebasing: self[..<(count - RecordLayout.checksumSize)])
  }
}
