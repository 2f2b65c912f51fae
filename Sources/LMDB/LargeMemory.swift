#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Memory of megabytes, read and written in no order: what batches are put together and sorted in.
///
/// Where the system has pages of two megabytes for who asks, it is asked: a batch of a million records
/// met 65,000 page faults, and its sorted entries a miss of the address cache each.
///
/// What a batch gives back is kept for the next one, `MADV_FREE`d: the system takes it when it is short
/// of memory, and the next batch need not wait for cleared pages. On virtual machines that report free
/// large pages to their host, clearing those again took as long as inserting a million records.
package enum LargeMemory {
  /// The size of a large page on the machines that have them.
  package static let pageSize = 2 << 20
  /// The most that is kept.
  private static let mostKept = 256 << 20

  private struct Block: Sendable {
    /// An address, as pointers are not `Sendable`.
    var start: UInt
    var byteCount: Int
  }

  /// What was given back longest ago comes first.
  private static let kept = Guarded<[Block]>([])

  /// Allocates `byteCount` bytes, which ``deallocate(_:byteCount:)`` gives back.
  package static func allocate(byteCount: Int) -> UnsafeMutableRawPointer {
    #if os(Linux)
      guard byteCount >= pageSize else { return .allocate(byteCount: byteCount, alignment: 16) }
      let size = wholePages(byteCount)
      if let memory = takeKept(size) { return memory }
      let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: pageSize)
      // Refused where there are none; the memory is as good then.
      madvise(memory, size, MADV_HUGEPAGE)
      return memory
    #else
      return .allocate(byteCount: byteCount, alignment: 16)
    #endif
  }

  /// Gives back what ``allocate(byteCount:)`` gave out for as many bytes.
  package static func deallocate(_ memory: UnsafeMutableRawPointer, byteCount: Int) {
    #if os(Linux)
      guard byteCount < pageSize || !keep(memory, wholePages(byteCount)) else { return }
    #endif
    memory.deallocate()
  }

  /// Gives back to the system what is kept for a next batch.
  package static func releaseKept() {
    release(
      kept.withLock { kept in
        defer { kept = [] }
        return kept
      })
  }

  private static func release(_ blocks: [Block]) {
    for block in blocks { UnsafeMutableRawPointer(bitPattern: block.start)?.deallocate() }
  }

  #if os(Linux)
    private static func wholePages(_ byteCount: Int) -> Int {
      (byteCount + pageSize - 1) / pageSize * pageSize
    }

    /// A block of `size`, or somewhat larger.
    private static func takeKept(_ size: Int) -> UnsafeMutableRawPointer? {
      let block = kept.withLock { kept in
        kept.lastIndex { $0.byteCount >= size && $0.byteCount <= size + size / 4 }
          .map { kept.remove(at: $0) }
      }
      return block.flatMap { UnsafeMutableRawPointer(bitPattern: $0.start) }
    }

    private static func keep(_ memory: UnsafeMutableRawPointer, _ size: Int) -> Bool {
      guard size <= mostKept, madvise(memory, size, MADV_FREE) == 0 else { return false }
      release(
        kept.withLock { kept in
          kept.append(Block(start: UInt(bitPattern: memory), byteCount: size))
          var left = kept.reduce(0) { $0 + $1.byteCount }
          let surplus = kept.prefix { block in
            defer { left -= block.byteCount }
            return left > mostKept
          }
          kept.removeFirst(surplus.count)
          return Array(surplus)
        })
      return true
    }
  #endif
}
