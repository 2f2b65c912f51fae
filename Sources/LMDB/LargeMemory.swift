import LodestoreSystem

/// Megabytes of memory with random access.
///
/// Asks the system for pages of two megabytes where it has them. Without them a batch of a million
/// records took 65,000 page faults, and each of its sorted entries missed the TLB.
package enum LargeMemory {
  /// The size of a large page on the machines that have them.
  package static let pageSize = 2 << 20

  /// Allocates `byteCount` bytes, which `deallocate()` gives back.
  package static func allocate(byteCount: Int) -> UnsafeMutableRawPointer {
    guard byteCount >= pageSize else { return .allocate(byteCount: byteCount, alignment: 16) }
    #if os(Linux)
      let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: pageSize)
      // A refusal does no harm.
      madvise(memory, byteCount / pageSize * pageSize, MADV_HUGEPAGE)
      return memory
    #else
      return .allocate(byteCount: byteCount, alignment: 16)
    #endif
  }
}
