internal import LMDB
internal import LodestoreFormat

/// The result of an eviction.
public struct EvictionReport: Sendable, Hashable {
  /// How many expired records were removed, by entity; entities without one are left out.
  public internal(set) var evictedCounts: [String: Int] = [:]
  /// How many expired records could not be removed, by entity: a delete rule denies it, a rule of
  /// another record would be broken, or the record is damaged.
  ///
  /// Such records are in no read, and stay in the file.
  public internal(set) var heldCounts: [String: Int] = [:]
  /// How many transactions it took.
  public internal(set) var batchCount = 0

  /// How many expired records were removed.
  public var evictedCount: Int { evictedCounts.values.reduce(0, +) }
  /// How many expired records could not be removed.
  public var heldCount: Int { heldCounts.values.reduce(0, +) }
}

/// Thrown by a run of a write that meets expired records: they are evicted by a write of its own
/// first.
struct ExpiredFirst: Error {
  /// When the run began.
  let moment: Double
}

extension StoreCore {
  /// How many records one transaction evicts.
  static let evictionBatchCount = 4_096
  /// The context of evictions in the history.
  static let evictionContext = "expiry"

  /// Evicts all that has expired, and tries again what could not be removed before.
  func evictExpired(_ onBatch: (() throws -> Void)? = nil) throws -> EvictionReport {
    let pass = EvictionPass(self, at: options.moment, triesHeld: true)
    try pass.run(onBatch)
    return pass.report
  }

  /// Throws ``ExpiredFirst`` where a write would meet expired records that were not tried yet.
  func checkExpiry(_ core: TransactionCore) throws {
    guard core.schema.hasExpiry else { return }
    let moment = options.moment
    for entity in core.schema.expiring where try core.hasDueRecords(of: entity, at: moment) {
      throw ExpiredFirst(moment: moment)
    }
  }
}

extension TransactionCore {
  /// Whether records have expired at `moment` that no eviction has tried.
  fileprivate func hasDueRecords(
    of entity: StoredEntity, at moment: Double
  ) throws(StoreError) -> Bool {
    let start = store.heldRecords.start(of: entity.number)
    let (ids, end) = try dueRecords(
      of: entity, from: start, at: moment, atMost: 1, triesHeld: false)
    if ids.isEmpty { store.heldRecords.pass(from: start, to: end, of: entity.number) }
    return !ids.isEmpty
  }

  /// The records from a place in the index of dates on that have expired at `moment`, the oldest
  /// date first.
  ///
  /// - Parameter triesHeld: whether records that could not be removed before are among them.
  /// - Returns: also the place behind the last entry that was visited.
  func dueRecords(
    of entity: StoredEntity, from start: ExpiryPosition, at moment: Double, atMost limit: Int,
    triesHeld: Bool
  ) throws(StoreError) -> (ids: [UInt64], end: ExpiryPosition) {
    guard let index = entity.expiryIndex else { return ([], start) }
    let held = store.heldRecords
    var ids: [UInt64] = []
    var end = max(start, .behind(moment))
    try forEachExpired(index, from: start, at: moment) { (id, key) throws(StoreError) in
      if triesHeld { held.noteVisit() }
      if triesHeld || !held.holds(id, key, of: entity.number) { ids.append(id) }
      if ids.count < limit { return true }
      end = .behind(key)
      return false
    }
    return (ids, end)
  }

  /// Removes those of the records with `ids` that no delete rule denies, with those that go with
  /// them; returns the others.
  func evict(_ ids: [UInt64], of entity: StoredEntity) throws(StoreError) -> Set<UInt64> {
    var ids = ids
    IDSort.sort(&ids)
    let (count, denied) = try deleteUndenied(ids, of: entity) { going in
      var runs = IDRuns()
      for id in going { runs.append(id) }
      evictedIDs[entity.number] = runs.normalized
    }
    // An entry of a damaged index would be met again and again.
    if count < ids.count, let index = entity.expiryIndex {
      throw .damagedIndex(index.name, "it leads to records of \(entity.name) that are not there")
    }
    return denied
  }

  /// How many records among `ids` have expired at `moment`.
  func expiredCount(
    of ids: Set<UInt64>, _ entity: StoredEntity, at moment: Double
  ) throws(StoreError) -> Int {
    guard !ids.isEmpty, let index = entity.expiryIndex else { return 0 }
    var count = 0
    try forEachExpired(index, at: moment) { id in
      if ids.contains(id) { count += 1 }
      return true
    }
    return count
  }
}

extension StoreError {
  /// Whether it may be of the record that is removed, or of one that its removal changes, so that
  /// others can be removed: any error but those of the engine and of the store as a whole.
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
