internal import LodestoreBytes
internal import LodestoreFormat

/// A record that is about to be written: its content, and room for a checksum that is not set yet.
///
/// The record has the entity's current layout, or the layout of a program's type that declares only
/// some of the attributes. The bytes belong to the memory in which the record was created, and are
/// valid until the next one is created there. ``EntityChanges`` makes a ``SealedRecord`` of it.
/// Batches make a ``NewRecord`` of it, or copy it to ``NewRecords``.
struct UnsealedRecord {
  /// The content, followed by the room for the checksum.
  let bytes: MutableByteView
  /// The use of the memory that created the record.
  let use: MemoryUses.Use

  @inline(__always)
  init(_ bytes: MutableByteView, _ use: MemoryUses.Use) {
    self.bytes = bytes
    self.use = use
  }

  /// Whether another record was created in the same memory since; only for assertions.
  @inline(__always)
  var isStale: Bool { use.isOver }

  /// - Parameter content: the content; room for a checksum must follow it.
  @inline(__always)
  init(content: MutableByteView, _ use: MemoryUses.Use) {
    self.init(
      MutableByteView(
        start: content.baseAddress, count: content.count + RecordLayout.checksumSize), use)
  }

  /// The content and the room for the checksum, for reading.
  @inline(__always)
  var raw: ByteView { ByteView(bytes) }

  @inline(__always)
  var content: ByteView { raw[..<(bytes.count - RecordLayout.checksumSize)] }
}

extension StoredEntity {
  @inline(__always)
  func view(_ record: UnsealedRecord) throws(StoreError) -> RecordView {
    try view(incoming: record.raw)
  }
}

/// Reusable memory for one record at a time.
struct RecordScratch: ~Copyable {
  private var memory = MutableByteView(start: nil, count: 0)
  private let uses = MemoryUses()

  deinit {
    uses.beginNext()
    memory.deallocate()
  }

  /// Copies a whole record, which must be outside this memory; the copy is valid until the next
  /// call.
  ///
  /// The function is not inlined, because Swift 6.3 miscompiles throwing closures that end in a
  /// copy of memory; see `tools/lint-calls`.
  @inline(never)
  mutating func take(_ record: ByteView) -> UnsealedRecord {
    assert(
      record.baseAddress != ByteView(memory).baseAddress,
      "a record is not copied onto itself")
    if record.count > memory.count {
      memory.deallocate()
      memory = .allocate(byteCount: max(1024, record.count * 2), alignment: 16)
    }
    memory.copyMemory(from: record)
    uses.beginNext()
    return UnsealedRecord(memory[..<record.count], uses.current)
  }
}
