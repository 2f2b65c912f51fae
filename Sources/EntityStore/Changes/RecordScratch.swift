/// Memory for one record after the other, with no array for each.
final class RecordScratch {
  // Of one thread; a check of each access would show in the time of a merge.
  @exclusivity(unchecked) private var base = UnsafeMutableRawPointer.allocate(
    byteCount: 1024, alignment: 16)
  @exclusivity(unchecked) private var capacity = 1024
  @exclusivity(unchecked) private var count = 0

  deinit { base.deallocate() }

  /// Copies `record`, which must not be this.
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
  var mutableBytes: UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: base, count: count)
  }

  /// Valid until the next record is taken.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(mutableBytes) }
}
