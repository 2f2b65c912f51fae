internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The result of an eviction.
public struct EvictionReport: Sendable, Hashable {
  /// The number of removed records by entity; entities without removed records are left out.
  ///
  /// The records had expired, or were the oldest records of an entity above its limit.
  public internal(set) var evictedCounts: [String: Int] = [:]
  /// The number of records that could not be removed, by entity.
  ///
  /// A delete rule denies the removal, the removal would break a rule of another record, or the
  /// record is damaged. Such records stay in the file. No read returns those that have expired.
  public internal(set) var heldCounts: [String: Int] = [:]
  /// The number of transactions.
  public internal(set) var batchCount = 0

  /// The total number of removed records.
  public var evictedCount: Int { evictedCounts.values.reduce(0, +) }
  /// The total number of records that could not be removed.
  public var heldCount: Int { heldCounts.values.reduce(0, +) }
}

/// Thrown when a write meets records that must be evicted, so that another write evicts them first.
struct EvictionFirst: Error {
  /// The time at which the run began.
  let moment: Double
}

/// The records that one transaction of an eviction tries to remove.
struct DueRecords {
  var ids: [UInt64] = []
  /// The position after the last visited entry.
  var end: EvictionPosition
  /// Whether no further records need eviction.
  var isLast = false
}

extension StoreCore {
  /// The maximum number of records that one transaction evicts.
  static let evictionBatchCount = 4_096

  /// Evicts all records that have expired or are above a limit.
  ///
  /// Records that could not be removed before are tried again.
  func evict(_ onBatch: (() throws -> Void)? = nil) throws -> EvictionReport {
    let pass = EvictionPass(self, at: options.moment, retriesUnevictable: true)
    try pass.run(onBatch)
    return pass.report
  }

  /// Throws ``EvictionFirst`` when an eviction must precede the write.
  ///
  /// An eviction must come first when no eviction has tried some expired records, or when an entity
  /// is far above its limit.
  func checkEviction(_ core: WriteCore) throws {
    guard core.schema.evicts else { return }
    let moment = options.moment
    for entity in core.schema.expiring
    where try core.hasDueRecords(of: entity, .expiry, at: moment) {
      throw EvictionFirst(moment: moment)
    }
    if try core.isFarAboveLimit() { throw EvictionFirst(moment: moment) }
  }
}

extension TransactionCore {
  /// Returns whether some expired records, or records above a limit, have not been tried by an
  /// eviction.
  func hasDueRecords(
    of entity: StoredEntity, _ cause: EvictionCause, at moment: Double
  ) throws(StoreError) -> Bool {
    let order = EvictionOrder(entity: entity.number, cause: cause)
    let start = store.unevictableRecords.start(of: order)
    let due = try dueRecords(
      of: entity, cause, from: start, at: moment, atMost: 1, retriesUnevictable: false)
    if due.ids.isEmpty { store.unevictableRecords.pass(from: start, to: due.end, of: order) }
    return !due.ids.isEmpty
  }

  /// The records to evict for one cause, from a position in their order on, the oldest first.
  ///
  /// - Parameters:
  ///   - moment: the current time, for expired records.
  ///   - retriesUnevictable: whether to include records that could not be removed before.
  func dueRecords(
    of entity: StoredEntity, _ cause: EvictionCause, from start: EvictionPosition,
    at moment: Double, atMost most: Int, retriesUnevictable: Bool
  ) throws(StoreError) -> DueRecords {
    switch cause {
    case .expiry:
      try expiredRecords(
        of: entity, from: start, at: moment, atMost: most, retriesUnevictable: retriesUnevictable)
    case .limit:
      try recordsAboveLimit(
        of: entity, from: start, atMost: most, retriesUnevictable: retriesUnevictable)
    }
  }

  private func expiredRecords(
    of entity: StoredEntity, from start: EvictionPosition, at moment: Double, atMost most: Int,
    retriesUnevictable: Bool
  ) throws(StoreError) -> DueRecords {
    guard let index = entity.expiryIndex else { return DueRecords(end: start, isLast: true) }
    let order = EvictionOrder(entity: entity.number, cause: .expiry)
    var due = DueRecords(end: max(start, .after(moment)), isLast: true)
    try forEachExpired(index, from: start, at: moment) { (id, key) throws(StoreError) in
      if isTried(id, key, in: order, retriesUnevictable: retriesUnevictable) { due.ids.append(id) }
      if due.ids.count < most { return true }
      due.end = .after(key)
      due.isLast = false
      return false
    }
    return due
  }

  /// Returns whether an eviction tries to remove the record of a visited index entry.
  ///
  /// Records that could not be removed before are skipped.
  func isTried(_ id: UInt64, _ key: ByteView, in order: EvictionOrder, retriesUnevictable: Bool)
    -> Bool
  {
    guard retriesUnevictable else { return !store.unevictableRecords.holds(id, key, of: order) }
    store.unevictableRecords.noteVisit()
    return true
  }

  /// Returns the number of records in `ids` that could not be removed and still must be evicted.
  func heldCount(
    of ids: Set<UInt64>, _ entity: StoredEntity, _ cause: EvictionCause, at moment: Double
  ) throws(StoreError) -> Int {
    if ids.isEmpty { return 0 }
    guard cause == .expiry else {
      var sorted = Array(ids)
      IDSort.sort(&sorted)
      return try present(sorted, of: entity).count
    }
    guard let index = entity.expiryIndex else { return 0 }
    var count = 0
    try forEachExpired(index, at: moment) { id in
      if ids.contains(id) { count += 1 }
      return true
    }
    return count
  }
}

extension WriteCore {
  /// Removes the records with `ids` unless a delete rule denies it, and the records that cascade
  /// from them.
  ///
  /// Returns the denied records.
  func evict(
    _ ids: [UInt64], of entity: StoredEntity, _ cause: EvictionCause
  ) throws(StoreError) -> Set<UInt64> {
    var ids = ids
    IDSort.sort(&ids)
    let (count, denied) = try deleteUndenied(ids, of: entity) { going in
      guard cause == .expiry else { return }
      for id in going { evictedIDs[entity.number, default: IDRuns()].append(id) }
      evictedIDs[entity.number]?.normalize()
    }
    // The index has entries without records, so it is damaged. Without an error, each pass would
    // find these entries again.
    let index = cause == .expiry ? entity.expiryIndex : entity.limitIndex
    if count < ids.count, let index {
      throw .damagedIndex(index.name, "it leads to records of \(entity.name) that are not there")
    }
    return denied
  }
}

extension StoreError {
  /// Whether the error may come from one record or from the effects of its removal.
  ///
  /// If so, other records can still be removed. True for all errors except those of the engine and
  /// of the store as a whole.
  var canHoldRecord: Bool {
    switch code {
    case .noSuchStore, .notAStore, .newerFormat, .otherEngine, .unsuitablePath, .notPermitted,
      .incompatibleSchema, .badSchema, .nestedWrite, .readOnly, .sealed, .closed, .poisoned,
      .diskFull, .mapFull, .mismatchedFiles, .busy, .inputOutput, .cancelled, .snapshotExpired:
      false
    case .brokenTransaction: (cause as? StoreError)?.canHoldRecord ?? false
    default: true
    }
  }
}
