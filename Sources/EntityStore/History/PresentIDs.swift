internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The ids of a change for which data exists: a record, or an entry in the history.
///
/// A run of ids takes a few bytes in the file, whatever its length. The search therefore steps from
/// one record or key to the next, and not from id to id.
struct PresentIDs {
  private let runs: IDRuns
  private let records: Cursor?
  private let kept: [HistoryKeyIDs]

  /// - Parameters:
  ///   - entity: the entity whose records are searched; `nil` for none.
  ///   - kept: the images and preserved values to search.
  init(
    _ runs: IDRuns, recordsOf entity: StoredEntity?, kept: [HistoryKeyIDs] = [],
    _ core: TransactionCore
  ) throws(StoreError) {
    self.runs = runs
    self.kept = kept
    records = try wrappingErrors {
      try entity.map { try Cursor($0.records, in: core.transaction) }
    }
  }

  /// Visits the ids in ascending order.
  ///
  /// - Complexity: O(*r* + *k* + *i*) for *r* runs, *k* visited ids and *i* images that other
  ///   writes stored for ids within the runs.
  func forEach(_ body: (UInt64) throws -> Void) throws {
    // The next record; the maximum, which is not an id, when there are no more records.
    var record: UInt64 = records == nil ? .max : 0
    for run in runs.ranges {
      // For each element of `kept`, its next id in this run, or the run's end.
      var next = kept.map { _ in UInt64(0) }
      var start = run.lowerBound
      while start < run.upperBound {
        if record < start, let records {
          record = try records.seek(atOrAfter: start) ? records.integerKey : .max
        }
        for (index, kept) in kept.enumerated() where next[index] < start {
          next[index] = try kept.next(in: start..<run.upperBound) ?? run.upperBound
        }
        let id = min(record, next.min() ?? run.upperBound)
        // In a damaged file the search could return to earlier ids and never end, so ids must
        // ascend.
        guard id >= start else { throw StoreError.damagedHistory(FormatError("ids do not ascend")) }
        guard id < run.upperBound else { break }
        try body(id)
        start = id + 1
      }
    }
  }
}

/// The ids of an entity for which the history stores data of one write, or of any write.
struct HistoryKeyIDs {
  private let cursor: Cursor
  private let isOfAnyWrite: Bool
  private let key: (UInt64) -> HistoryKey

  /// Returns `nil` when the store has no history.
  ///
  /// - Parameters:
  ///   - write: the write number in the keys; `nil` for any.
  ///   - key: returns the key for an id, with 0 for any write number.
  init?(
    in log: HistoryLog, of write: UInt64?, _ key: @escaping (UInt64) -> HistoryKey
  ) throws(StoreError) {
    guard let tree = log.tree else { return nil }
    self.key = key
    isOfAnyWrite = write == nil
    cursor = try wrappingErrors { try Cursor(tree, in: log.core.transaction) }
  }

  /// Returns the first of `ids` for which data is stored; `nil` for none.
  func next(in ids: Range<UInt64>) throws -> UInt64? {
    var id = ids.lowerBound
    while id < ids.upperBound {
      let wanted = key(id).bytes
      guard try wanted._withBytes({ (key) throws(LMDBError) in try cursor.seek(atOrAfter: key) })
      else { return nil }
      let found = cursor.key
      if found.elementsEqual(wanted) { return id }
      // The first five bytes are the kind and the entity.
      guard found.prefix(5).elementsEqual(wanted.prefix(5)) else { return nil }
      switch HistoryKey(found) {
      // The key belongs to another write, for this id or a later one.
      case .image(_, let next, _)? where next >= id, .tombstone(_, let next, _)? where next >= id:
        if isOfAnyWrite { return next < ids.upperBound ? next : nil }
        id = max(id + 1, next)
      default:
        throw StoreError.damagedHistory(
          FormatError("a key is none that is listed, or not in its order"))
      }
    }
    return nil
  }
}
