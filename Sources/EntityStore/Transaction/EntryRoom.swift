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

  deinit { Self.deallocate(start, capacity) }

  private static func allocate(_ capacity: Int) -> UnsafeMutablePointer<Entry> {
    LargeMemory.allocate(byteCount: byteCount(capacity))
      .bindMemory(to: Entry.self, capacity: max(1, capacity))
  }

  private static func deallocate(_ start: UnsafeMutablePointer<Entry>, _ capacity: Int) {
    LargeMemory.deallocate(start, byteCount: byteCount(capacity))
  }

  private static func byteCount(_ capacity: Int) -> Int {
    max(1, capacity) * MemoryLayout<Entry>.stride
  }

  /// Makes room for twice as many entries, and keeps the first `count`.
  @inline(never)
  mutating func grow(keeping count: Int) {
    let larger = max(64, capacity * 2)
    let moved = Self.allocate(larger)
    moved.moveInitialize(from: start, count: count)
    Self.deallocate(start, capacity)
    start = moved
    capacity = larger
  }

  /// Makes room for `count` entries, and keeps none.
  mutating func reserve(_ count: Int) {
    guard capacity < count else { return }
    Self.deallocate(start, capacity)
    capacity = count
    start = Self.allocate(count)
  }
}
