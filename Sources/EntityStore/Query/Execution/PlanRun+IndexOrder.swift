internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

extension PlanRun {
  /// Visits the matching records in the order of an index.
  ///
  /// Entries are taken in batches whose records are read in the order of their ids, which visits a
  /// page of records once instead of once per record; the first batches are small, as most such
  /// queries want one page.
  func inIndexOrder(
    _ access: IndexAccess, isReversed: Bool,
    _ body: (UInt64, ByteView) throws -> Bool
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
  /// The loop stands here again: sharing it costs the walk of one range four per cent, and inlining
  /// this one costs other arrangements as much.
  @inline(never)
  func inMergedOrder(
    _ access: IndexAccess, isReversed: Bool,
    _ body: (UInt64, ByteView) throws -> Bool
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
    // Where each entry is a result, no more are looked up than are wanted.
    let isCertain = residual == nil && start == nil
    return max(isCertain ? 1 : 16, min(wanted, 256))
  }

  /// Twice as many as in the last batch, but not many more than hold what is still wanted, if records
  /// go on to pass as often as before.
  private func nextBatchSize(after size: Int) -> Int {
    let size = min(size * 2, Self.largestBatch)
    guard let limit = plan.request.limit, counts.results > 0 else { return size }
    let read = Double(counts.recordsRead) / Double(counts.results)
    return min(size, max(16, Int(Double(limit - counts.results) * read * 1.25)))
  }

  /// So many records of 170 bytes take some three megabytes, which the cache holds.
  private static let largestBatch = 16_384

  /// Ids in the order of the index; their records are looked up in the order of the ids.
  private struct EntryBatch {
    let lookup: RecordLookup
    /// One for each id, once they have been looked up.
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

  /// Visits the records of a batch, and leaves it empty.
  ///
  /// - Parameter writer: where the query goes on after a token.
  private func visit(
    _ batch: inout EntryBatch, _ writer: SortKeyWriter?,
    _ body: (UInt64, ByteView) throws -> Bool
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
      // The order of the index is random in memory.
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

  /// The key at which a walk goes on after the continuation token, where that gives a position in
  /// the index; of merged ranges the part behind their first elements.
  private func startBound(
    _ access: IndexAccess, isReversed: Bool, isMerged: Bool = false
  ) throws -> [UInt8]? {
    let attributes = access.index.description.attributes
    guard let start, start.count >= 8,
      let tuple = tuple(
        in: start, access, attributes.count, skipping: isMerged ? access.pointCount : nil),
      tuple.count < KeyEncoder.cutPrefix
    else { return nil }
    // In a unique index the id is part of keys with nulls only; all are at or after the tuple.
    if access.index.isUnique { return isReversed ? tuple + [255] : tuple }
    return tuple + start.suffix(8).map { plan.order.isTieDescending ? ~$0 : $0 }
  }

  /// The keys of the groups from that of the continuation token on, where it tells the group.
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

  /// The first elements of the tuple of the index at the record whose sort key is `key`.
  ///
  /// - Parameter skipped: how many of them to leave out.
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
        // The first elements of the range's bound, which are whole.
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
