public import CChecksum

/// Prefetches the cache line at `address`, which may be any.
@inlinable @inline(__always)
@_documentation(visibility: internal)
public func prefetch(_ address: UnsafeRawPointer) { lodestore_prefetch(address) }

/// Prefetches `byteCount` bytes at `address` into the cache: the first two kilobytes and the last line, as
/// the processor itself fetches ahead in what is read in order.
///
/// Sorted keys lie anywhere in memory: the cache misses were half of the time of writing an index. An
/// address that is not mapped does no harm.
@inlinable
@_documentation(visibility: internal)
public func prefetch(_ address: UnsafeRawPointer, byteCount: Int) {
  let end = min(byteCount, 2_048)
  var offset = 0
  while offset < end {
    lodestore_prefetch(address + offset)
    offset &+= 64
  }
  lodestore_prefetch(address + max(0, end &- 1))
}
