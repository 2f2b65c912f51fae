internal import LMDB

/// An item for radix sorts: a word to sort by, and a payload.
struct SortItem: BitwiseCopyable, Hashable {
  var word: UInt64
  var payload: UInt64

  /// The payload as the index of an element.
  @inline(__always)
  var index: Int { Int(truncatingIfNeeded: payload) }
}

/// A growing buffer of items, whose memory is not initialized in advance.
struct SortBuffer: ~Copyable {
  /// The address of the first item, valid until the next call of ``grow(keeping:)`` or
  /// ``reserve(_:)``.
  private(set) var start: UnsafeMutablePointer<SortItem>
  private(set) var capacity: Int

  init(capacity: Int = 0) {
    self.capacity = capacity
    start = Self.allocate(capacity)
  }

  deinit { start.deallocate() }

  private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<SortItem> {
    LargeMemory.allocate(byteCount: max(1, capacity) * MemoryLayout<SortItem>.stride)
      .bindMemory(to: SortItem.self, capacity: max(1, capacity))
  }

  /// The first `count` items; valid as long as ``start``.
  func items(_ count: Int) -> UnsafeMutableBufferPointer<SortItem> {
    assert(count <= capacity)
    return UnsafeMutableBufferPointer(start: start, count: count)
  }

  /// Doubles the capacity and keeps the first `count` items.
  @inline(never)
  mutating func grow(keeping count: Int) {
    assert(count <= capacity)
    capacity = max(64, capacity * 2)
    let moved = Self.allocate(capacity)
    moved.moveInitialize(from: start, count: count)
    start.deallocate()
    start = moved
  }

  /// Makes room for `count` items, and may discard the present ones.
  mutating func reserve(_ count: Int) {
    guard capacity < count else { return }
    start.deallocate()
    capacity = count
    start = Self.allocate(count)
  }
}
