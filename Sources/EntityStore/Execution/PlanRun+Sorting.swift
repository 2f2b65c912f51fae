internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension PlanRun {
  /// The largest number of results kept in a heap.
  ///
  /// More results are sorted as a whole.
  private static let largestHeap = 1 << 16

  /// Visits the matching records in the query's order.
  func sorted(keeping kept: Int?, _ body: (UInt64, ByteView) throws -> Bool) throws {
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
      // The number of the first term excludes most records, without writing their keys.
      let first = SlotOrder(BoundOrder(terms: Array(plan.order.terms.prefix(1))), entity)
      try forEachMatch { id, bytes in
        let word = try first?.word(bytes, id)
        if let first, !top.admits(word, isNullFirst: first.isNullFirst) { return true }
        try writer.write(bytes, id: id)
        if let start, !start.lexicographicallyPrecedes(writer.key) { return true }
        top.insert(writer.key, id: id, bytes, first: word)
        return true
      }
      let records = top.sorted()
      hasSorted(records.count)
      for record in records {
        try tick()
        guard try body(record.id, record.bytes) else { return }
      }
      return
    }
    let records = SortedRecords()
    try forEachMatch { id, bytes in
      try writer.write(bytes, id: id)
      if let start, !start.lexicographicallyPrecedes(writer.key) { return true }
      records.append(writer.key, id: id, bytes)
      return true
    }
    hasSorted(records.count)
    try records.forEach(tick: { try tick() }, body)
  }
}

/// The first records in an order, at most `capacity` of them.
///
/// A heap keeps the records; its first element is the record that comes last in the order.
struct TopRecords {
  struct Element {
    /// The first eight bytes of the key, which decide most comparisons.
    var word: UInt64
    var key: [UInt8]
    var id: UInt64
    var bytes: ByteView
    /// The value of the first term as a sort word; `nil` for null and for a term that is no number.
    var first: UInt64?

    func precedes(_ other: Element) -> Bool {
      word != other.word ? word < other.word : TopRecords.precedes(key, other.key)
    }
  }

  private let capacity: Int
  private var heap = Heap<Element>()
  private var isFull = false
  // The words and key of the first element of a full heap.
  private var lastFirst: UInt64?
  private var lastWord: UInt64 = 0
  private var lastKey: [UInt8] = []

  init(capacity: Int) { self.capacity = capacity }

  private static func precedes(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a._withBytes { a in b._withBytes { compareKeys(a, $0) < 0 } }
  }

  /// Returns whether a record with the sort word `first` of the first term may come before the last
  /// record kept.
  @inline(__always)
  func admits(_ first: UInt64?, isNullFirst: Bool) -> Bool {
    guard isFull else { return true }
    return switch (first, lastFirst) {
    case (let first?, let last?): first <= last
    case (nil, nil): true
    case (nil, _): isNullFirst
    case (_, nil): !isNullFirst
    }
  }

  private static func word(_ key: [UInt8]) -> UInt64 {
    // A key ends with the record's id, so it has at least eight bytes.
    key._withBytes { $0.count >= 8 ? $0.bigEndianUInt64(at: 0) : 0 }
  }

  mutating func insert(_ key: [UInt8], id: UInt64, _ bytes: ByteView, first: UInt64? = nil) {
    guard capacity > 0 else { return }
    let word = Self.word(key)
    if isFull {
      guard word <= lastWord, word < lastWord || Self.precedes(key, lastKey) else { return }
      heap.replaceFirst(with: Element(word: word, key: key, id: id, bytes: bytes, first: first)) {
        $1.precedes($0)
      }
    } else {
      heap.insert(Element(word: word, key: key, id: id, bytes: bytes, first: first)) {
        $1.precedes($0)
      }
    }
    guard heap.count == capacity, let last = heap.first else { return }
    isFull = true
    lastFirst = last.first
    lastWord = last.word
    lastKey = last.key
  }

  func sorted() -> [Element] {
    assert(heap.isOrdered { $1.precedes($0) })
    return heap.elements.sorted { $0.precedes($1) }
  }
}

/// All records of a result, sorted in runs that are merged, so that no single step takes long.
final class SortedRecords {
  /// The number of entries in a run, which are sorted in some ten milliseconds.
  private static let runLength = 1 << 17
  private static let longestRun = 1 << 30

  private struct Record {
    var id: UInt64
    var bytes: ByteView
  }

  private var runs: [KeyEntries] = []
  private var records: [Record] = []

  var count: Int { records.count }

  func append(_ key: [UInt8], id: UInt64, _ bytes: ByteView) {
    if runs.isEmpty || runs[runs.count - 1].isFull(Self.runLength, Self.longestRun) {
      runs.append(KeyEntries(expectedCount: 64))
    }
    let index = UInt64(records.count)
    key._withBytes { runs[runs.count - 1].append(key: $0, recordID: index) }
    records.append(Record(id: id, bytes: bytes))
  }

  func forEach(tick: () throws -> Void, _ body: (UInt64, ByteView) throws -> Bool) throws {
    for run in runs {
      for _ in 0..<1_024 { try tick() }
      run.sort()
    }
    // The runs that have entries left, ordered by their next keys. Keys end with the record's id,
    // so no two are equal.
    var next = [Int](repeating: 0, count: runs.count)
    var heap = Heap<Int>()
    for run in runs.indices {
      heap.insert(run) { runs[$1].isAbove(next[$1], runs[$0], at: next[$0]) }
    }
    while let run = heap.first {
      let record = records[Int(runs[run].recordID(at: next[run]))]
      next[run] += 1
      if next[run] < runs[run].count {
        heap.replaceFirst(with: run) { runs[$1].isAbove(next[$1], runs[$0], at: next[$0]) }
      } else {
        heap.removeFirst { runs[$1].isAbove(next[$1], runs[$0], at: next[$0]) }
      }
      try tick()
      guard try body(record.id, record.bytes) else { return }
    }
  }
}

extension KeyEntries {
  func isFull(_ count: Int, _ byteCount: Int) -> Bool {
    self.count >= count || self.byteCount >= byteCount
  }
}
