internal import LMDB
internal import LodestoreFormat

extension PlanRun {
  /// More results than this are sorted whole rather than kept in a heap.
  private static let largestHeap = 1 << 16

  /// Visits the matching records in the order of the query's keys.
  func sorted(
    keeping kept: Int?, _ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    if start == nil, let slots = SlotOrder(plan.order, entity) {
      if let kept, kept <= Self.largestHeap {
        try firstSorted(by: slots, keeping: kept, body)
      } else {
        try allSorted(by: slots, body)
      }
      return
    }
    let writer = makeSortKeyWriter()
    if let kept, kept <= Self.largestHeap {
      var top = TopRecords(capacity: kept)
      try inIDOrder(isReversed: false) { id, bytes in
        try writer.write(bytes, id: id)
        if let start, !start.lexicographicallyPrecedes(writer.key) { return true }
        top.insert(writer.key, id: id, bytes)
        return true
      }
      for record in top.sorted() {
        try tick()
        guard try body(record.id, record.bytes) else { return }
      }
      return
    }
    let records = SortedRecords()
    try inIDOrder(isReversed: false) { id, bytes in
      try writer.write(bytes, id: id)
      if let start, !start.lexicographicallyPrecedes(writer.key) { return true }
      records.append(writer.key, id: id, bytes)
      return true
    }
    try records.forEach(tick: { try tick() }, body)
  }
}

/// The first so many records of an order: a heap whose top is the last of them.
struct TopRecords {
  struct Element {
    /// The first eight bytes of the key, which decide most comparisons.
    var window: UInt64
    var key: [UInt8]
    var id: UInt64
    var bytes: UnsafeRawBufferPointer

    func precedes(_ other: Element) -> Bool {
      window != other.window
        ? window < other.window : key.lexicographicallyPrecedes(other.key)
    }
  }

  private let capacity: Int
  private var heap: [Element] = []

  init(capacity: Int) { self.capacity = capacity }

  private static func window(_ key: [UInt8]) -> UInt64 {
    // A key ends with the record's id, so that it has eight bytes.
    key.withUnsafeBytes { $0.count >= 8 ? $0.bigEndianUInt64(at: 0) : 0 }
  }

  mutating func insert(_ key: [UInt8], id: UInt64, _ bytes: UnsafeRawBufferPointer) {
    guard capacity > 0 else { return }
    let window = Self.window(key)
    if heap.count == capacity {
      let top = heap[0]
      guard window <= top.window else { return }
      let element = Element(window: window, key: key, id: id, bytes: bytes)
      guard element.precedes(top) else { return }
      heap[0] = element
      siftDown()
    } else {
      heap.append(Element(window: window, key: key, id: id, bytes: bytes))
      siftUp()
    }
  }

  private mutating func siftUp() {
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[parent].precedes(heap[child]) else { return }
      heap.swapAt(parent, child)
      child = parent
    }
  }

  private mutating func siftDown() {
    var parent = 0
    while true {
      var last = parent
      for child in [parent * 2 + 1, parent * 2 + 2]
      where child < heap.count && heap[last].precedes(heap[child]) { last = child }
      if last == parent { return }
      heap.swapAt(parent, last)
      parent = last
    }
  }

  func sorted() -> [Element] { heap.sorted { $0.precedes($1) } }
}

/// All records of a result, sorted in runs that are merged, so that no single step takes long.
final class SortedRecords {
  /// Entries of a run: one is sorted in some ten milliseconds.
  private static let runLength = 1 << 17
  private static let longestRun = 1 << 30

  private struct Record {
    var id: UInt64
    var bytes: UnsafeRawBufferPointer
  }

  private var runs: [EntryArenaBox] = []
  private var records: [Record] = []

  func append(_ key: [UInt8], id: UInt64, _ bytes: UnsafeRawBufferPointer) {
    if runs.isEmpty || runs[runs.count - 1].isFull(Self.runLength, Self.longestRun) {
      runs.append(EntryArenaBox(expectedCount: 64))
    }
    let place = UInt64(records.count)
    key.withUnsafeBytes { runs[runs.count - 1].append(key: $0, recordID: place) }
    records.append(Record(id: id, bytes: bytes))
  }

  func forEach(
    tick: () throws -> Void, _ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    for run in runs {
      for _ in 0..<1_024 { try tick() }
      run.sort()
    }
    var places = [Int](repeating: 0, count: runs.count)
    while let run = lowest(places) {
      let arena = runs[run]
      let record = records[Int(arena.recordID(at: places[run]))]
      places[run] += 1
      try tick()
      guard try body(record.id, record.bytes) else { return }
    }
  }

  /// The run whose next entry comes first.
  private func lowest(_ places: [Int]) -> Int? {
    if runs.count == 1 { return places[0] < runs[0].count ? 0 : nil }
    var best: Int?
    for run in runs.indices where places[run] < runs[run].count {
      guard let current = best else {
        best = run
        continue
      }
      if runs[current].isBehind(places[current], runs[run], at: places[run]) { best = run }
    }
    return best
  }
}

extension EntryArenaBox {
  func isFull(_ count: Int, _ byteCount: Int) -> Bool {
    arena.count >= count || arena.byteCount >= byteCount
  }
}
