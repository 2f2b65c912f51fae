internal import LMDB
internal import LodestoreFormat

/// The result of an eviction.
public struct EvictionReport: Sendable, Hashable {
  /// How many expired records were removed, by entity; entities without one are left out.
  public internal(set) var evictedCounts: [String: Int] = [:]
  /// How many expired records could not be removed, by entity: a delete rule denies it, a rule of another
  /// record would be broken, or the record is damaged.
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

/// Thrown by a run of a write that meets expired records: they are evicted by a write of its own first.
struct ExpiredFirst: Error {
  /// When the run began.
  let moment: Double
}

extension StoreCore {
  /// How many records one transaction evicts.
  static let evictionBatchCount = 4_096
  /// The context of evictions in the history.
  static let evictionContext = "expiry"

  /// Evicts the records that have expired at `moment`, in transactions of a bounded number of records.
  ///
  /// Records that cannot be removed stay; see ``EvictionReport/heldCounts``.
  @discardableResult
  func evict(
    at moment: Double, _ onBatch: ((EvictionReport) throws -> Void)? = nil
  ) throws -> EvictionReport {
    var report = EvictionReport()
    var limit = Self.evictionBatchCount
    while true {
      do {
        let batch = limit
        let evicted = try write(
          WriteOrigin(context: Self.evictionContext), isEviction: true, Savepoints()
        ) { core in try core.evict(at: moment, atMost: batch) }
        guard !evicted.isEmpty else { break }
        for (name, count) in evicted { report.evictedCounts[name, default: 0] += count }
        report.batchCount += 1
        limit = min(limit * 2, Self.evictionBatchCount)
        try onBatch?(report)
      } catch let error as StoreError where error.canHoldRecord {
        // One of them, or the effect of its removal: halves lead to it.
        guard limit == 1 else {
          limit /= 2
          continue
        }
        guard let first = try firstExpired(at: moment) else { break }
        heldRecords.add(first.id, of: first.entity)
      }
    }
    let held = try read { core in
      try core.schema.expiring.map { ($0.name, try core.heldCount(of: $0, at: moment)) }
    }
    for (name, count) in held where count > 0 { report.heldCounts[name] = count }
    return report
  }

  /// The record that an eviction of one would remove; `nil` for none.
  private func firstExpired(at moment: Double) throws -> (entity: EntityNumber, id: UInt64)? {
    try read { core in
      for entity in core.schema.expiring {
        if let id = try core.dueRecords(of: entity, at: moment, atMost: 1).first {
          return (entity.number, id)
        }
      }
      return nil
    }
  }

  /// Throws ``ExpiredFirst`` where a write would meet expired records.
  func checkExpiry(_ core: TransactionCore) throws {
    guard core.schema.hasExpiry else { return }
    let moment = options.moment
    for entity in core.schema.expiring
    where try !core.dueRecords(of: entity, at: moment, atMost: 1).isEmpty {
      throw ExpiredFirst(moment: moment)
    }
  }
}

extension TransactionCore {
  /// The records that have expired at `moment` and can be evicted, the oldest date first.
  func dueRecords(
    of entity: StoredEntity, at moment: Double, atMost limit: Int
  ) throws(StoreError) -> [UInt64] {
    guard let index = entity.expiryIndex else { return [] }
    let held = store.heldRecords.ids(of: entity.number)
    var ids: [UInt64] = []
    try forEachExpired(index, at: moment) { id in
      if !held.contains(id) { ids.append(id) }
      return ids.count < limit
    }
    return ids
  }

  fileprivate func heldCount(
    of entity: StoredEntity, at moment: Double
  ) throws(StoreError) -> Int {
    let held = store.heldRecords.ids(of: entity.number)
    guard !held.isEmpty, let index = entity.expiryIndex else { return 0 }
    var count = 0
    try forEachExpired(index, at: moment) { id in
      if held.contains(id) { count += 1 }
      return true
    }
    return count
  }

  /// Removes records that have expired at `moment`, with those that go with them by delete rules; returns how
  /// many of each entity had expired.
  fileprivate func evict(
    at moment: Double, atMost limit: Int
  ) throws(StoreError) -> [String: Int] {
    var left = limit
    var evicted: [String: Int] = [:]
    for entity in schema.expiring where left > 0 {
      // An earlier entity's delete rules may have removed some already.
      var ids = try dueRecords(of: entity, at: moment, atMost: left)
      guard !ids.isEmpty else { continue }
      IDSort.sort(&ids)
      var runs = IDRuns()
      for id in ids { runs.append(id) }
      evictedIDs[entity.number] = runs.normalized
      let count = try delete(ids, of: entity)
      // An entry of a damaged index would be met again and again.
      if count < ids.count, let index = entity.expiryIndex {
        throw .damagedIndex(index.name, "it leads to records of \(entity.name) that are not there")
      }
      evicted[entity.name] = count
      left -= count
    }
    return evicted
  }
}

extension StoreError {
  /// Whether it says that one record cannot be removed, rather than that nothing can be written.
  fileprivate var canHoldRecord: Bool {
    switch code {
    case .denied, .invalidValue, .damaged, .missingTarget, .endlessChanges: true
    case .brokenTransaction: (cause as? StoreError)?.canHoldRecord ?? false
    default: false
    }
  }
}
