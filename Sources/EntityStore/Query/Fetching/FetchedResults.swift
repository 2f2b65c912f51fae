internal import LodestoreFormat

/// What a query found, as a collection that decodes a record when it is asked for one.
///
///     let results = try store.results(Pod.all.sorted(by: \.name))
///     print(results.count, try results[0].value.name)
///     for batch in results.batches(of: 100) { show(try batch.values()) }
///
/// The ids are found once; records are decoded on access from the same commit, so that nothing
/// that is written meanwhile shows, and no record can be missing. It holds that commit: pages that
/// it can still see are not reused, and the file grows while it is kept.
///
/// Any thread may use it; accesses take turns.
///
/// The counterpart of faults and `fetchBatchSize` in Core Data.
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

  /// 0, or the first index of the part.
  @_documentation(visibility: internal)
  public var startIndex: Int { bounds.lowerBound }

  /// One past the last index.
  @_documentation(visibility: internal)
  public var endIndex: Int { bounds.upperBound }

  /// The record at `position`, not decoded yet.
  ///
  /// - Precondition: `position` is one of `indices`.
  public subscript(position: Int) -> FetchedRecord<E> {
    precondition(bounds.contains(position), "index \(position) is outside \(bounds)")
    return FetchedRecord(hold: hold, rawID: allIDs[position])
  }

  /// The records in `range`, with the same indices.
  public subscript(range: Range<Int>) -> FetchedResults {
    precondition(
      range.lowerBound >= bounds.lowerBound && range.upperBound <= bounds.upperBound,
      "range \(range) is outside \(bounds)")
    return FetchedResults(self, range)
  }

  /// The number of the commit that is seen.
  public var generation: CommitNumber { hold.generation }

  /// The ids, in order.
  public var ids: [E.ID] { allIDs[bounds].map { RecordID(rawValue: $0) } }

  /// All records, decoded: for parts rather than the whole.
  ///
  /// - Throws: as ``FetchedRecord/value``.
  @inlinable
  public func values() throws(StoreError) -> [E] { try values(isCancelled: { false }) }

  /// As ``values()``, and asks every thousand records whether to end with
  /// ``StoreError/Code/cancelled``.
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

  /// Asks every thousand records whether to end.
  @inline(__always)
  private static func check(_ isCancelled: () -> Bool, _ count: inout Int) throws {
    if count % 1_024 == 0, isCancelled() {
      throw StoreError(.cancelled, "cannot read a batch: cancelled")
    }
    count += 1
  }

  /// Consecutive parts of `size` records, at least 1, the last perhaps of fewer.
  public func batches(of size: Int) -> [FetchedResults] {
    let size = Swift.max(1, size)
    return stride(from: startIndex, to: endIndex, by: size).map { start in
      self[start..<Swift.min(endIndex, start + size)]
    }
  }
}

/// One of the records that a query found, decoded when its value is asked for.
public struct FetchedRecord<E: Entity>: Sendable, Identifiable {
  let hold: SnapshotHold
  let rawID: UInt64

  /// The record's id.
  public var id: E.ID { RecordID(rawValue: rawID) }

  /// The record as of the results' commit; decoded each time.
  ///
  /// - Throws: ``StoreError/Code/undecodableValue``; of a damaged file ``StoreError/Code/damaged``, and
  ///   ``StoreError/Code/noSuchRecord`` where an index led to no record.
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
      return try wrappingErrors {
        return try core.withReader(bytes, id: rawID, of: entity, body)
      }
    }
  }
}

extension Store {
  /// Finds what `query` asks for and returns it as a collection that decodes on access.
  ///
  /// - Complexity: that of finding the ids, 8 bytes of memory each.
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
