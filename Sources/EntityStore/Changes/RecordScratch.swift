/// Memory for one record at a time, reused without allocating for each.
final class RecordScratch {
  // Used by one thread; exclusivity checks would slow down each record.
  @exclusivity(unchecked) private var base = UnsafeMutableRawPointer.allocate(
    byteCount: 1024, alignment: 16)
  @exclusivity(unchecked) private var capacity = 1024
  @exclusivity(unchecked) private var count = 0

  deinit { base.deallocate() }

  /// Copies `record`, which must not be in this memory.
  func take(_ record: UnsafeRawBufferPointer) {
    if record.count > capacity {
      base.deallocate()
      capacity = record.count * 2
      base = .allocate(byteCount: capacity, alignment: 16)
    }
    count = record.count
    if let source = record.baseAddress { base.copyMemory(from: source, byteCount: count) }
  }

  /// Valid until the next record is taken.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  /// The bytes before the checksum; valid until the next record is taken.
  var content: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: base, count: count).recordContent
  }
}
