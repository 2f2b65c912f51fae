internal import LodestoreFormat

/// The results of a query, as a collection that decodes a record on access.
///
///     let results = try store.results(Pod.all.sorted(by: \.name))
///     print(results.count, try results[0].value.name)
///     for batch in results.batches(of: 100) { show(try batch.values()) }
///
/// The ids are found once. Records are decoded on access from the same commit, so later writes are
/// not visible and no record can be missing. While the collection exists, pages of that commit are
/// not reused, so writes make the file grow.
///
/// The collection can be used from any thread; accesses take turns.
///
/// The collection corresponds to faults and `fetchBatchSize` in Core Data.
public struct FetchedResults<E: Entity>: RandomAccessCollection, Sendable {
  let hold: SnapshotHold
  let allIDs: [UInt64]
  private let bounds: Range<Int>

  init(hold: SnapshotHold, ids: [UInt64]) {
    self.hold = hold
    allIDs = ids
    bounds = ids.indices
  }

  private init(_ whole: FetchedResults, _ bounds: Range<Int>) {
    hold = whole.hold
    allIDs = whole.allIDs
    self.bounds = bounds
  }

  /// The first index: 0, or the first index of a slice.
  @_documentation(visibility: internal)
  public var startIndex: Int { bounds.lowerBound }

  /// The index after the last one.
  @_documentation(visibility: internal)
  public var endIndex: Int { bounds.upperBound }

  /// The record at `position`, not yet decoded.
  ///
  /// - Precondition: `position` is one of `indices`.
  public subscript(position: Int) -> FetchedRecord<E> {
    precondition(bounds.contains(position), "index \(position) is outside \(bounds)")
    return FetchedRecord(hold: hold, rawID: allIDs[position])
  }

  /// The slice of the records in `range`, with the same indices.
  public subscript(range: Range<Int>) -> FetchedResults {
    precondition(
      range.lowerBound >= bounds.lowerBound && range.upperBound <= bounds.upperBound,
      "range \(range) is outside \(bounds)")
    return FetchedResults(self, range)
  }

  /// The number of the commit that the results were read from.
  public var commitNumber: CommitNumber { hold.commitNumber }

  /// The ids of the results, in order.
  public var ids: [E.ID] { allIDs[bounds].map { RecordID(rawValue: $0) } }

  /// Decodes all records into memory; prefer ``batches(of:)`` and decode one batch at a time.
  ///
  /// - Throws: the errors of ``FetchedRecord/value``.
  @inlinable
  public func values() throws(StoreError) -> [E] { try values(isCancelled: { false }) }

  /// Decodes all records, like ``values()``.
  ///
  /// Every thousand records it calls `isCancelled`, and ends with ``StoreError/Code/cancelled`` if
  /// that returns true.
  @inlinable
  func values(isCancelled: () -> Bool) throws(StoreError) -> [E] {
    var found: [E] = []
    found.reserveCapacity(count)
    try readValues(isCancelled: isCancelled) { found.append(try E.read(from: &$0)) }
    return found
  }

  @usableFromInline
  func readValues(
    isCancelled: () -> Bool, _ body: (inout RecordReader) throws -> Void
  ) throws(StoreError) {
    try hold.use { (core) throws(StoreError) in
      var count = 0
      try core.readRecords(allIDs[bounds], of: try core.entity(E.self)) { reader in
        try Self.check(isCancelled, &count)
        try body(&reader)
      }
    }
  }

  @usableFromInline
  func readValues(
    isCancelled: () -> Bool, onUnreadable report: (UnreadableRecord<E>) -> Void,
    _ body: (inout RecordReader) throws -> Void
  ) throws(StoreError) {
    try hold.use { (core) throws(StoreError) in
      let entity = try core.entity(E.self)
      var count = 0
      try core.forEachRecord(allIDs[bounds], of: entity) { id, bytes in
        try Self.check(isCancelled, &count)
        core.read(bytes, id: id, of: entity, onUnreadable: report, body)
      }
    }
  }

  /// Throws ``StoreError/Code/cancelled`` if `isCancelled` returns true, which is called every
  /// thousand records.
  @inline(__always)
  private static func check(_ isCancelled: () -> Bool, _ count: inout Int) throws {
    if count % 1_024 == 0, isCancelled() {
      throw StoreError(.cancelled, "cannot read a batch: cancelled")
    }
    count += 1
  }

  /// Returns consecutive slices of `size` records.
  ///
  /// The last one may have fewer, and a size below 1 is taken as 1.
  public func batches(of size: Int) -> [FetchedResults] {
    let size = Swift.max(1, size)
    return stride(from: startIndex, to: endIndex, by: size).map { start in
      self[start..<Swift.min(endIndex, start + size)]
    }
  }
}

/// A record that a query found, decoded when its value is read.
public struct FetchedRecord<E: Entity>: Sendable, Identifiable {
  let hold: SnapshotHold
  let rawID: UInt64

  /// The record's id.
  public var id: E.ID { RecordID(rawValue: rawID) }

  /// The record at the commit of the results, decoded on each access.
  ///
  /// - Throws: ``StoreError/Code/undecodableValue``; for a damaged file
  ///   ``StoreError/Code/damaged``, or ``StoreError/Code/noSuchRecord`` if an index led to a
  ///   missing record.
  @inlinable
  public var value: E {
    get throws(StoreError) { try readValue { try E.read(from: &$0) } }
  }

  @usableFromInline
  func readValue<R>(_ body: (inout RecordReader) throws -> R) throws(StoreError) -> R {
    try hold.use { (core) throws(StoreError) in
      let entity = try core.entity(E.self)
      guard let bytes = try core.record(rawID, of: entity) else {
        throw .noSuchRecord(entity: entity.name, id: rawID)
      }
      return try wrappingErrors { try core.withReader(bytes, id: rawID, of: entity, body) }
    }
  }
}

extension Store {
  /// Runs `query` and returns the results as a collection that decodes on access.
  ///
  /// - Complexity: the cost of finding the ids, with 8 bytes of memory for each.
  public func results<E: Entity>(_ query: Query<E>) throws(StoreError) -> FetchedResults<E> {
    try core.results(query)
  }
}

extension StoreCore {
  func results<E: Entity>(
    _ query: Query<E>, control: RunControl? = nil
  ) throws(StoreError) -> FetchedResults<E> {
    let hold = try SnapshotHold(self)
    let ids = try hold.use { (core) throws(StoreError) in
      try core.run(query, wantsOnlyEntries: true, control: control).ids()
    }
    return FetchedResults(hold: hold, ids: ids)
  }
}
