internal import LodestoreBytes
internal import LodestoreFormat

/// A record of the current layout in its own memory, with room for its checksum.
struct RecordBytes: Sendable {
  private let bytes: [UInt8]

  init(_ record: UnsealedRecord) {
    assert(!record.isStale, "a record is copied before the next one is created")
    bytes = Array(record.bytes)
  }

  init(_ record: SealedRecord) {
    assert(!record.isStale, "a record is copied before the next one is created")
    bytes = Array(record.bytes)
  }

  init(_ values: [Value], in layout: RecordLayout) throws(FormatError) {
    var bytes = try layout.content(values: values)
    bytes.append(contentsOf: repeatElement(0, count: RecordLayout.checksumSize))
    self.bytes = bytes
  }

  /// The number of bytes without the checksum.
  var contentCount: Int { bytes.count - RecordLayout.checksumSize }

  func withBytes<R, E: Error>(_ body: (ByteView) throws(E) -> R) throws(E) -> R {
    try bytes._withBytes(body)
  }

  func withView<R>(
    of entity: StoredEntity, _ body: (RecordView) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try bytes._withBytes { (bytes) throws(StoreError) in
      try body(try entity.view(incoming: bytes))
    }
  }
}
