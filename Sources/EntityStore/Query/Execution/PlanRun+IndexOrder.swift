internal import LMDB
internal import LodestoreFormat

extension PlanRun {
  /// Visits the matching records in the order of an index.
  ///
  /// Entries are taken in batches whose records are read in the order of their ids, which visits a
  /// page of records once instead of once per record; the first batches are small, as most such
  /// queries want one page.
  func inIndexOrder(
    _ access: IndexAccess, _ range: IndexRange, isReversed: Bool,
    _ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool
  ) throws {
    let behind = start.map { EntryFilter(start: $0, writer: makeSortKeyWriter()) }
    let keys = try narrowed(range, access, isReversed: isReversed)
    let wanted = plan.request.wantedCount ?? .max
    var batchSize = max(16, min(wanted, 256))
    var batch = EntryBatch(lookup: try RecordLookup(entity.records, in: core.transaction))
    var goesOn = true
    try forEachEntry(of: access.index, range, keys: keys, isReversed: isReversed) { id, _ in
      batch.append(id)
      if batch.count == batchSize {
        goesOn = try visit(&batch, behind, body)
        batchSize = min(batchSize * 2, Self.largestBatch)
      }
      return goesOn
    }
    if goesOn { _ = try visit(&batch, behind, body) }
  }

  /// So many records, of 170 bytes, are some three megabytes, which the cache holds.
  private static let largestBatch = 16_384

  /// Ids in the order of the index, whose records are looked up in their own.
  private struct EntryBatch {
    let lookup: RecordLookup
    /// One for each id, when they have been looked up.
    var records: [SortedRecord] = []
    var order = WordSort()

    init(lookup: RecordLookup) { self.lookup = lookup }

    var count: Int { order.count }

    mutating func append(_ id: UInt64) { order.append(id, place: order.count) }

    mutating func removeAll() {
      records.removeAll(keepingCapacity: true)
      order.removeAll()
    }
  }

  /// What is behind the token of a query continued in the order of an index.
  private struct EntryFilter {
    let start: [UInt8]
    let writer: SortKeyWriter

    func admits(_ bytes: UnsafeRawBufferPointer, _ id: UInt64) throws -> Bool {
      try writer.write(bytes, id: id)
      return start.lexicographicallyPrecedes(writer.key)
    }
  }

  /// Visits the records of a batch, and leaves it empty.
  private func visit(
    _ batch: inout EntryBatch, _ filter: EntryFilter?,
    _ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    try batch.order.sort { try tick() }
    let none = SortedRecord(id: 0, bytes: UnsafeRawBufferPointer(start: nil, count: 0))
    batch.records.append(contentsOf: repeatElement(none, count: batch.count))
    batch.lookup.look(for: batch.order.entries.lazy.map(\.word))
    for (place, entry) in batch.order.entries.enumerated() {
      try tick()
      guard let bytes = try batch.lookup.record(entry.word, at: place) else {
        throw missing(entry.word)
      }
      counts.recordsRead &+= 1
      batch.records[entry.place] = SortedRecord(id: entry.word, bytes: bytes)
    }
    for (place, record) in batch.records.enumerated() {
      // Read in an order that memory does not have.
      if place + 8 < batch.records.count { batch.records[place + 8].prefetch() }
      try tick()
      guard try passes(record.bytes, record.id) else { continue }
      if let filter, try !filter.admits(record.bytes, record.id) { continue }
      guard try body(record.id, record.bytes) else { return false }
    }
    batch.removeAll()
    return true
  }

  /// The keys from the token on, where it says a place in the index.
  private func narrowed(
    _ range: IndexRange, _ access: IndexAccess, isReversed: Bool
  ) throws -> KeyRange? {
    guard let start, start.count >= 8,
      let tuple = tuple(in: start, access),
      tuple.count < KeyEncoder.cutPrefix
    else { return nil }
    var keys = range.keys
    var id = start.suffix(8).map { plan.order.isTieDescending ? ~$0 : $0 }
    // In a unique index the id is part of keys with nulls only; all are at or behind the tuple.
    if access.index.isUnique { id = [] }
    if isReversed {
      keys.upper = .excluded(access.index.isUnique ? tuple + [255] : tuple + id)
    } else {
      keys.lower = .included(tuple + id)
    }
    return keys
  }

  /// The tuple of the index at the record whose sort key is `key`.
  private func tuple(in key: [UInt8], _ access: IndexAccess) -> [UInt8]? {
    var rest = key.dropLast(8)
    var elements: [UInt32: ArraySlice<UInt8>] = [:]
    for term in plan.order.terms where !term.attribute.isRecordID {
      let plain = term.isDescending ? ArraySlice(rest.map { ~$0 }) : rest
      guard let element = firstElement(of: plain) else { return nil }
      elements[term.attribute.number] = element
      rest = rest.dropFirst(element.count)
      if rest.first == SortKeyWriter.separator { rest = rest.dropFirst() }
    }
    guard var fixed = access.ranges.first?.lower[...] else { return nil }
    var tuple: [UInt8] = []
    for (place, attribute) in access.index.description.attributes.enumerated() {
      if place < access.fixedCount {
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
    Array(bytes).withUnsafeBytes { raw in
      var decoder = KeyDecoder(raw)
      guard (try? decoder.next()) != nil else { return nil }
      return bytes.prefix(decoder.offset)
    }
  }
}
