internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension PlanRun {
  /// Visits the matching records in the order of an index.
  ///
  /// Entries are collected in batches whose records are read in the order of their ids. A page of
  /// records is then visited once for a batch, instead of once for each record. The first batches
  /// are small, since most such queries want one page of results.
  func inIndexOrder(
    _ access: IndexAccess, isReversed: Bool, _ body: (UInt64, ByteView) throws -> Bool
  ) throws {
    let bound = try startBound(access, isReversed: isReversed)
    let writer = start == nil ? nil : makeSortKeyWriter()
    var batchSize = firstBatchSize
    var batch = EntryBatch(lookup: try RecordLookup(entity.records, in: core.transaction))
    var goesOn = true
    var toSkip = entriesToSkip
    for (range, keys) in ranges(of: access, from: bound, isReversed: isReversed) {
      try forEachEntry(of: access, range, keys: keys, isReversed: isReversed) { id, _ in
        if toSkip > 0 {
          toSkip -= 1
          return true
        }
        batch.append(id)
        if batch.count == batchSize {
          goesOn = try visit(&batch, writer, body)
          batchSize = nextBatchSize(after: batchSize)
        }
        return goesOn
      }
      if !goesOn { return }
    }
    _ = try visit(&batch, writer, body)
  }

  /// Visits the matching records in the merged order of several ranges of an index.
  ///
  /// The loop repeats that of ``inIndexOrder(_:isReversed:_:)``. Sharing one loop makes a walk of
  /// one range four per cent slower, and inlining this one slows other arrangements as much.
  @inline(never)
  func inMergedOrder(
    _ access: IndexAccess, isReversed: Bool, _ body: (UInt64, ByteView) throws -> Bool
  ) throws {
    let bound = try startBound(access, isReversed: isReversed, isMerged: true)
    let writer = start == nil ? nil : makeSortKeyWriter()
    var batchSize = firstBatchSize
    var batch = EntryBatch(lookup: try RecordLookup(entity.records, in: core.transaction))
    var goesOn = true
    var toSkip = entriesToSkip
    try forEachMergedEntry(of: access, from: bound, isReversed: isReversed) { id in
      if toSkip > 0 {
        toSkip -= 1
        return true
      }
      batch.append(id)
      if batch.count == batchSize {
        goesOn = try visit(&batch, writer, body)
        batchSize = nextBatchSize(after: batchSize)
      }
      return goesOn
    }
    if goesOn { _ = try visit(&batch, writer, body) }
  }

  private var firstBatchSize: Int {
    let wanted = plan.request.wantedCount.map { $0 - entriesToSkip } ?? .max
    // If each entry is certain to be a result, the first batch has no more records than are wanted.
    let isCertain = residual == nil && start == nil
    return max(isCertain ? 1 : 16, min(wanted, 256))
  }

  /// Returns the size of the next batch: twice the last size, but little more than the remaining
  /// results need.
  ///
  /// The number of records for the remaining results is estimated: the next records are assumed to
  /// match as often as the earlier ones.
  private func nextBatchSize(after size: Int) -> Int {
    let size = min(size * 2, Self.largestBatch)
    guard let limit = plan.request.limit, counts.results > 0 else { return size }
    let read = Double(counts.recordsRead) / Double(counts.results)
    return min(size, max(16, Int(Double(limit - counts.results) * read * 1.25)))
  }

  /// The maximum number of records in a batch.
  ///
  /// At 170 bytes a record, such a batch takes some 3 MB, which fits the processor's cache.
  private static let largestBatch = 16_384

  /// A batch of ids in the order of the index, whose records are looked up in the order of the ids.
  private struct EntryBatch {
    let lookup: RecordLookup
    /// The records in the order of the index, once they have been looked up.
    var records: [SortedRecord] = []
    var order = WordSort()

    init(lookup: RecordLookup) { self.lookup = lookup }

    var count: Int { order.count }

    mutating func append(_ id: UInt64) { order.append(id, index: order.count) }

    mutating func removeAll() {
      records.removeAll(keepingCapacity: true)
      order.removeAll()
    }
  }

  /// Visits the records of a batch, and empties the batch.
  ///
  /// - Parameter writer: writes sort keys if the query continues after a token.
  private func visit(
    _ batch: inout EntryBatch, _ writer: SortKeyWriter?, _ body: (UInt64, ByteView) throws -> Bool
  ) throws -> Bool {
    try batch.order.sort { try tick() }
    let none = SortedRecord(id: 0, bytes: ByteView())
    batch.records.append(contentsOf: repeatElement(none, count: batch.count))
    batch.lookup.look(for: batch.order.items.lazy.map(\.word))
    for (position, item) in batch.order.items.enumerated() {
      try tick()
      guard let bytes = try batch.lookup.record(item.word, at: position) else {
        throw missing(item.word)
      }
      counts.recordsRead &+= 1
      batch.records[item.index] = SortedRecord(id: item.word, bytes: bytes)
    }
    for (index, record) in batch.records.enumerated() {
      // Records in the order of an index are scattered in memory, so later ones are prefetched.
      if index + 8 < batch.records.count { batch.records[index + 8].prefetch() }
      try tick()
      guard try passes(record.bytes, record.id) else { continue }
      if let writer, let start {
        try writer.write(record.bytes, id: record.id)
        guard start.lexicographicallyPrecedes(writer.key) else { continue }
      }
      guard try body(record.id, record.bytes) else { return false }
    }
    batch.removeAll()
    return true
  }

  /// Returns the key at which a walk continues after the continuation token, or `nil` if the token
  /// gives no position in the index.
  ///
  /// For merged ranges, this is the part of the key after the elements that differ between the
  /// ranges.
  private func startBound(
    _ access: IndexAccess, isReversed: Bool, isMerged: Bool = false
  ) throws -> [UInt8]? {
    let attributes = access.index.description.attributes
    guard let start, start.count >= 8,
      let tuple = tuple(
        in: start, access, attributes.count, skipping: isMerged ? access.pointCount : nil),
      tuple.count < KeyEncoder.cutPrefix
    else { return nil }
    // In a unique index only keys with nulls contain the id. So the bound is the tuple alone, which
    // comes before all of its entries.
    if access.index.isUnique { return isReversed ? tuple + [255] : tuple }
    return tuple + start.suffix(8).map { plan.order.isTieDescending ? ~$0 : $0 }
  }

  /// Returns the range of keys from the group in which the continuation token lies.
  ///
  /// Returns `nil` if the token does not identify the group.
  func startedKeys(
    _ range: IndexRange, _ access: IndexAccess, _ groups: QueryPlan.Groups
  ) throws -> KeyRange? {
    guard let start, start.count >= 8,
      let tuple = tuple(in: start, access, groups.attributeCount),
      tuple.count < KeyEncoder.cutPrefix
    else { return nil }
    var keys = range.keys
    if groups.isReversed {
      keys.upper = .excluded(tuple + [255])
    } else {
      keys.lower = .included(tuple)
    }
    return keys
  }

  /// Returns the first `count` elements of the index tuple of the record with the sort key `key`.
  ///
  /// - Parameter skipped: the number of elements to leave out at the beginning.
  private func tuple(
    in key: [UInt8], _ access: IndexAccess, _ count: Int, skipping skipped: Int? = nil
  ) -> [UInt8]? {
    let attributes = access.index.description.attributes.prefix(count)
    let wanted = attributes.dropFirst(skipped ?? access.fixedCount)
    var rest = key.dropLast(8)
    var elements: [UInt32: ArraySlice<UInt8>] = [:]
    for term in plan.order.terms where !term.isRecordID {
      if wanted.allSatisfy({ elements[$0] != nil }) { break }
      guard let attribute = term.attribute else { return nil }
      let plain = term.isDescending ? ArraySlice(rest.map { ~$0 }) : rest
      guard let element = firstElement(of: plain) else { return nil }
      elements[attribute.number] = element
      rest = rest.dropFirst(element.count)
      if rest.first == SortKeyWriter.separator { rest = rest.dropFirst() }
    }
    guard var fixed = access.ranges.first?.lower[...] else { return nil }
    var tuple: [UInt8] = []
    for (position, attribute) in attributes.enumerated().dropFirst(skipped ?? 0) {
      if skipped == nil, position < access.fixedCount {
        // The fixed elements come from the range's bound, in which they are complete.
        guard let element = firstElement(of: fixed) else { return nil }
        tuple += element
        fixed = fixed.dropFirst(element.count)
      } else {
        guard let element = elements[attribute] else { return nil }
        tuple += element
      }
    }
    return tuple
  }

  private func firstElement(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    Array(bytes)._withBytes { raw in
      var decoder = KeyDecoder(raw)
      guard (try? decoder.next()) != nil else { return nil }
      return bytes.prefix(decoder.offset)
    }
  }
}
