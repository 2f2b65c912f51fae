public import CChecksum

/// Prefetches the cache line at `address`.
///
/// Any address is allowed.
@inlinable @inline(__always) @_documentation(visibility: internal)
public func prefetch(_ address: UnsafeRawPointer) { lodestore_prefetch(address) }

/// Prefetches the first two kilobytes and the last line of `byteCount` bytes at `address`.
///
/// In sequential reads the processor itself fetches the rest.
///
/// Sorted keys are scattered in memory, and the cache misses took half of the time of writing an
/// index. An unmapped address does no harm.
@inlinable @_documentation(visibility: internal)
public func prefetch(_ address: UnsafeRawPointer, byteCount: Int) {
  let end = min(byteCount, 2_048)
  var offset = 0
  while offset < end {
    lodestore_prefetch(address + offset)
    offset &+= 64
  }
  lodestore_prefetch(address + max(0, end &- 1))
}
