import LodestoreSystem

/// Megabytes of memory with random access.
///
/// The memory uses pages of two megabytes if the system has them. Without them a batch of a million
/// records took 65,000 page faults, and each of its sorted entries missed the TLB.
package enum LargeMemory {
  /// The size of a large page of memory.
  package static let pageSize = 2 << 20

  /// Allocates `byteCount` bytes.
  ///
  /// Free them with `deallocate()`.
  package static func allocate(byteCount: Int) -> UnsafeMutableRawPointer {
    guard byteCount >= pageSize else { return .allocate(byteCount: byteCount, alignment: 16) }
    #if os(Linux)
      let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: pageSize)
      // If the system refuses, normal pages are used.
      madvise(memory, byteCount / pageSize * pageSize, MADV_HUGEPAGE)
      return memory
    #else
      return .allocate(byteCount: byteCount, alignment: 16)
    #endif
  }
}
