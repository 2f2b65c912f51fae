internal import LodestoreBytes
internal import LodestoreFormat

/// A record on its way to the file: its content, and room for a checksum that is not set.
///
/// Of the current layout, or of that of a program's type that declares a part of the attributes. The
/// bytes belong to the memory that the record was made in, and are valid until the next one is made
/// there. ``EntityChanges`` makes a ``SealedRecord`` of it, and writes nothing else.
struct UnsealedRecord {
  /// The content and the room.
  let bytes: MutableByteView

  @inline(__always)
  init(_ bytes: MutableByteView) { self.bytes = bytes }

  /// - Parameter content: has room for a checksum behind it.
  @inline(__always)
  init(content: MutableByteView) {
    self.init(
      MutableByteView(
        start: content.baseAddress, count: content.count + RecordLayout.checksumSize))
  }

  /// ``bytes``, to be read.
  @inline(__always)
  var raw: ByteView { ByteView(bytes) }

  @inline(__always)
  var content: ByteView {
    raw[..<(bytes.count - RecordLayout.checksumSize)]
  }
}

/// Memory for one record at a time, which is used again.
struct RecordScratch: ~Copyable {
  private var memory = MutableByteView(start: nil, count: 0)

  deinit { memory.deallocate() }

  /// Copies a whole record, which must not be in this memory; valid until the next one is taken.
  ///
  /// A call of its own, since a closure must not end in a copy of memory; see `tools/lint-calls`.
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
    return UnsealedRecord(memory[..<record.count])
  }
}
