internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension PlanRun {
  /// Visits the first `kept` matching records in an order by one slot.
  func firstSorted(
    by order: SlotOrder, keeping kept: Int, _ body: (UInt64, ByteView) throws -> Bool
  ) throws {
    var top = TopSlots(capacity: kept, order)
    try forEachMatch { id, bytes in
      top.insert(try order.word(bytes, id), SortedRecord(id: id, bytes: bytes))
      return true
    }
    let records = top.sorted()
    hasSorted(records.count)
    _ = try visit(records, body)
  }

  /// Visits all matching records in an order by one slot.
  ///
  /// Records are read in the order of the results, which is scattered in memory but can be
  /// prefetched. Reading the records in the order of ids, and storing each result at its index,
  /// takes half as long again.
  func allSorted(by order: SlotOrder, _ body: (UInt64, ByteView) throws -> Bool) throws {
    let all = try gathered(by: order)
    hasSorted(all.records.count + all.nulls.count)
    if order.isNullFirst, try !visit(all.nulls, body) { return }
    guard try visit(all.records, in: all.words, body) else { return }
    if !order.isNullFirst { _ = try visit(all.nulls, body) }
  }

  /// Returns the matching records with a value in the slot, their indexes sorted by that value, and
  /// the records without one.
  private func gathered(
    by order: SlotOrder
  ) throws -> (records: [SortedRecord], words: WordSort, nulls: [SortedRecord]) {
    var records: [SortedRecord] = []
    var nulls: [SortedRecord] = []
    var words = WordSort()
    if let count = certainCount {
      records.reserveCapacity(count)
      words.reserve(count)
    }
    try forEachMatch { id, bytes in
      let record = SortedRecord(id: id, bytes: bytes)
      if let word = try order.word(bytes, id) {
        words.append(word, index: records.count)
        records.append(record)
      } else {
        nulls.append(record)
      }
      return true
    }
    // The sort is stable: records with equal words stay in ascending or descending order of id.
    if order.isTieDescending {
      words.reverse()
      nulls.reverse()
    }
    try words.sort { for _ in 0..<1_024 { try tick() } }
    return (records, words, nulls)
  }

  private func visit(
    _ records: [SortedRecord], _ body: (UInt64, ByteView) throws -> Bool
  ) throws -> Bool {
    for record in records {
      try tick()
      guard try body(record.id, record.bytes) else { return false }
    }
    return true
  }

  /// Visits `records` in the order of `words`.
  ///
  /// Memory holds the records in another order, so the next ones are prefetched.
  private func visit(
    _ records: [SortedRecord], in words: WordSort, _ body: (UInt64, ByteView) throws -> Bool
  ) throws -> Bool {
    try records.withUnsafeBufferPointer { records in
      try words.items.withUnsafeBufferPointer { items in
        guard let first = records.baseAddress else { return true }
        for i in items.indices {
          if i + 16 < items.count { prefetch(first + items[i + 16].index) }
          if i + 8 < items.count { records[items[i + 8].index].prefetch() }
          try tick()
          let record = records[items[i].index]
          guard try body(record.id, record.bytes) else { return false }
        }
        return true
      }
    }
  }
}

/// A record to visit later, whose bytes are in the map.
struct SortedRecord {
  let id: UInt64
  let bytes: ByteView

  /// Prefetches the record's first bytes into the cache.
  @inline(__always)
  func prefetch() {
    guard let base = bytes.baseAddress else { return }
    LodestorePages.prefetch(base)
    if bytes.count > 64 { LodestorePages.prefetch(base + 64) }
    if bytes.count > 128 { LodestorePages.prefetch(base + 128) }
  }
}
