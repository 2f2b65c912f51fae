internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// The result of an eviction.
public struct EvictionReport: Sendable, Hashable {
  /// How many records were removed, by entity; entities without one are left out.
  ///
  /// These are records that had expired, and the oldest records of an entity above its limit.
  public internal(set) var evictedCounts: [String: Int] = [:]
  /// How many records could not be removed, by entity: a delete rule denies it, a rule of another
  /// record would be broken, or the record is damaged.
  ///
  /// Such records stay in the file. Expired ones are in no read.
  public internal(set) var heldCounts: [String: Int] = [:]
  /// How many transactions it took.
  public internal(set) var batchCount = 0

  /// How many records were removed.
  public var evictedCount: Int { evictedCounts.values.reduce(0, +) }
  /// How many records could not be removed.
  public var heldCount: Int { heldCounts.values.reduce(0, +) }
}

/// Thrown by a run of a write that meets records to be evicted: a write of its own evicts them
/// first.
struct EvictionFirst: Error {
  /// When the run began.
  let moment: Double
}

/// The records that one step of an eviction removes.
struct DueRecords {
  var ids: [UInt64] = []
  /// The place after the last entry that was visited.
  var end: EvictionPosition
  /// Whether no records follow that are due.
  var isLast = false
}

extension StoreCore {
  /// How many records one transaction evicts.
  static let evictionBatchCount = 4_096

  /// Evicts all that has expired or is above a limit, and tries again what could not be removed
  /// before.
  func evict(_ onBatch: (() throws -> Void)? = nil) throws -> EvictionReport {
    let pass = EvictionPass(self, at: options.moment, triesHeld: true)
    try pass.run(onBatch)
    return pass.report
  }

  /// Throws ``EvictionFirst`` where a write would meet expired records that were not tried yet, or an
  /// entity that is far above its limit.
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
  /// Whether there are records to be evicted that no eviction has tried.
  func hasDueRecords(
    of entity: StoredEntity, _ cause: EvictionCause, at moment: Double
  ) throws(StoreError) -> Bool {
    let order = EvictionOrder(entity: entity.number, cause: cause)
    let start = store.heldRecords.start(of: order)
    let due = try dueRecords(
      of: entity, cause, from: start, at: moment, atMost: 1, triesHeld: false)
    if due.ids.isEmpty { store.heldRecords.pass(from: start, to: due.end, of: order) }
    return !due.ids.isEmpty
  }

  /// The records from a place in their order on that are to be evicted, the oldest first.
  ///
  /// - Parameters:
  ///   - moment: the time at which records have expired.
  ///   - triesHeld: whether records that could not be removed before are among them.
  func dueRecords(
    of entity: StoredEntity, _ cause: EvictionCause, from start: EvictionPosition,
    at moment: Double, atMost most: Int, triesHeld: Bool
  ) throws(StoreError) -> DueRecords {
    switch cause {
    case .expiry:
      try expiredRecords(
        of: entity, from: start, at: moment, atMost: most, triesHeld: triesHeld)
    case .limit:
      try recordsAboveLimit(of: entity, from: start, atMost: most, triesHeld: triesHeld)
    }
  }

  private func expiredRecords(
    of entity: StoredEntity, from start: EvictionPosition, at moment: Double, atMost most: Int,
    triesHeld: Bool
  ) throws(StoreError) -> DueRecords {
    guard let index = entity.expiryIndex else { return DueRecords(end: start, isLast: true) }
    let order = EvictionOrder(entity: entity.number, cause: .expiry)
    var due = DueRecords(end: max(start, .behind(moment)), isLast: true)
    try forEachExpired(index, from: start, at: moment) { (id, key) throws(StoreError) in
      if isTried(id, key, in: order, triesHeld: triesHeld) { due.ids.append(id) }
      if due.ids.count < most { return true }
      due.end = .behind(key)
      due.isLast = false
      return false
    }
    return due
  }

  /// Whether an eviction tries a record that it visits.
  func isTried(_ id: UInt64, _ key: ByteView, in order: EvictionOrder, triesHeld: Bool) -> Bool {
    guard triesHeld else { return !store.heldRecords.holds(id, key, of: order) }
    store.heldRecords.noteVisit()
    return true
  }

  /// How many records among `ids`, which could not be removed, are still to be evicted.
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
  /// Removes those of the records with `ids` that no delete rule denies, with those that go with
  /// them; returns the others.
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
    // An entry of a damaged index would be met again and again.
    let index = cause == .expiry ? entity.expiryIndex : entity.limitIndex
    if count < ids.count, let index {
      throw .damagedIndex(index.name, "it leads to records of \(entity.name) that are not there")
    }
    return denied
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
