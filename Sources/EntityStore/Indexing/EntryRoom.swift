internal import LMDB

/// Room for entries that are sorted, which is not initialized by itself.
struct EntryRoom: ~Copyable {
  typealias Entry = EntryArena.Entry

  /// The first place; valid until the next ``grow(keeping:)`` or ``reserve(_:)``.
  private(set) var start: UnsafeMutablePointer<Entry>
  private(set) var capacity: Int

  init(capacity: Int = 0) {
    self.capacity = capacity
    start = Self.allocate(capacity)
  }

  deinit { start.deallocate() }

  private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Entry> {
    LargeMemory.allocate(byteCount: max(1, capacity) * MemoryLayout<Entry>.stride)
      .bindMemory(to: Entry.self, capacity: max(1, capacity))
  }

  /// Makes room for twice as many entries, and keeps the first `count`.
  @inline(never)
  mutating func grow(keeping count: Int) {
    capacity = max(64, capacity * 2)
    let moved = Self.allocate(capacity)
    moved.moveInitialize(from: start, count: count)
    start.deallocate()
    start = moved
  }

  /// Makes room for `count` entries, and keeps none.
  mutating func reserve(_ count: Int) {
    guard capacity < count else { return }
    start.deallocate()
    capacity = count
    start = Self.allocate(count)
  }
}
