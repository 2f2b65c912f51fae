#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Memory of megabytes, read and written in no order.
///
/// Where the system has pages of two megabytes for who asks, it is asked: a batch of a million records
/// met 65,000 page faults, and its sorted entries a miss of the address cache each.
package enum LargeMemory {
  /// The size of a large page on the machines that have them.
  package static let pageSize = 2 << 20

  /// Allocates `byteCount` bytes, which `deallocate()` gives back.
  package static func allocate(byteCount: Int) -> UnsafeMutableRawPointer {
    guard byteCount >= pageSize else { return .allocate(byteCount: byteCount, alignment: 16) }
    #if os(Linux)
      let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: pageSize)
      // Refused where there are none; the memory is as good then.
      madvise(memory, byteCount / pageSize * pageSize, MADV_HUGEPAGE)
      return memory
    #else
      return .allocate(byteCount: byteCount, alignment: 16)
    #endif
  }
}
