internal import LMDB
internal import LodestoreFormat

extension PlanRun {
  /// Visits the first so many matching records in an order by one slot.
  func firstSorted(
    by order: SlotOrder, keeping kept: Int, _ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    var top = TopSlots(capacity: kept, order)
    try forEachMatch { id, bytes in
      top.insert(try order.word(bytes, id), SortedRecord(id: id, bytes: bytes))
      return true
    }
    for record in top.sorted() {
      try tick()
      guard try body(record.id, record.bytes) else { return }
    }
  }

  /// Visits all matching records in an order by one slot.
  ///
  /// To decode them in the order of ids, each into its place, takes half as long again: results
  /// that are written hither and thither cost more than records that are read so, as these can be
  /// asked for ahead.
  func allSorted(
    by order: SlotOrder, _ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    let all = try gathered(by: order)
    if order.isNullFirst, try !visit(all.nulls, body) { return }
    guard try visit(all.records, in: all.words, body) else { return }
    if !order.isNullFirst { _ = try visit(all.nulls, body) }
  }

  /// What matches, sorted by its words; and what has none.
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
        words.append(word, place: records.count)
        records.append(record)
      } else {
        nulls.append(record)
      }
      return true
    }
    // Sorting keeps equal words in the order of ids, up or down.
    if order.isTieDescending {
      words.reverse()
      nulls.reverse()
    }
    try words.sort { for _ in 0..<1_024 { try tick() } }
    return (records, words, nulls)
  }

  private func visit(
    _ records: [SortedRecord], _ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    for record in records {
      try tick()
      guard try body(record.id, record.bytes) else { return false }
    }
    return true
  }

  /// Visits `records` in the order of `words`.
  ///
  /// They lie anywhere: what comes soon is fetched into the cache meanwhile.
  private func visit(
    _ records: [SortedRecord], in words: WordSort,
    _ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    try records.withUnsafeBufferPointer { records in
      try words.entries.withUnsafeBufferPointer { entries in
        guard let first = records.baseAddress else { return true }
        for i in entries.indices {
          if i + 16 < entries.count { prefetch(first + entries[i + 16].place) }
          if i + 8 < entries.count { records[entries[i + 8].place].prefetch() }
          try tick()
          let record = records[entries[i].place]
          guard try body(record.id, record.bytes) else { return false }
        }
        return true
      }
    }
  }
}

/// A record that waits for its turn; its bytes are in the map.
struct SortedRecord {
  let id: UInt64
  let bytes: UnsafeRawBufferPointer

  /// Has its first bytes fetched into the cache.
  @inline(__always)
  func prefetch() {
    guard let base = bytes.baseAddress else { return }
    LMDB.prefetch(base)
    if bytes.count > 64 { LMDB.prefetch(base + 64) }
    if bytes.count > 128 { LMDB.prefetch(base + 128) }
  }
}
