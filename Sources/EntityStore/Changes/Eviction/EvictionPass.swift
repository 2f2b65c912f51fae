internal import LodestoreFormat

/// Evicts all records that have expired, and then the oldest records of entities above their
/// limits.
///
/// Each transaction removes a bounded number of records. The pass walks once through each order: by
/// expiry date, and by age for each limited entity. Records that cannot be removed go to
/// ``UnevictableRecords``. One transaction finds all records of a batch that a delete rule denies.
/// When a removal fails in another way, halving the batch finds the record.
///
/// Only one thread uses a pass at a time.
final class EvictionPass {
  private let core: StoreCore
  private let moment: Double
  /// Whether unevictable records are tried again.
  private let retriesUnevictable: Bool
  private(set) var report = EvictionReport()
  private var limit = StoreCore.evictionBatchCount
  /// The orders of records, by expiry or by age, that are still to be visited.
  private var orders: [EvictionOrder]
  /// The position in the first of ``orders`` at which the next batch begins, if unevictable records
  /// are tried again.
  private var position: EvictionPosition
  /// The records of this pass that could not be removed, if unevictable records are tried again.
  private var unevictable: Set<UInt64> = []
  /// By entity, the records that could not be removed and are already counted in the report.
  private var counted: [EntityNumber: Set<UInt64>] = [:]

  /// The records of one transaction.
  private struct Batch {
    let name: String
    let start: EvictionPosition
    var end: EvictionPosition
    var ids: [UInt64] = []
    var denied: Set<UInt64> = []
    /// Whether no further records need eviction.
    var isLast = false

    init(_ name: String, from start: EvictionPosition) {
      self.name = name
      self.start = start
      end = start
    }
  }

  init(_ core: StoreCore, at moment: Double, retriesUnevictable: Bool) {
    self.core = core
    self.moment = moment
    self.retriesUnevictable = retriesUnevictable
    orders = core.schema.evictionOrders
    position = orders.first?.first ?? .first
    if retriesUnevictable { core.unevictableRecords.beginPass() }
  }

  deinit { if retriesUnevictable { core.unevictableRecords.endPass() } }

  /// Runs the whole pass; `onBatch` may end it by throwing.
  func run(_ onBatch: (() throws -> Void)? = nil) throws {
    while try step() { try onBatch?() }
  }

  /// Runs one transaction; returns whether more work remains.
  func step() throws -> Bool {
    guard let order = orders.first else { return false }
    let limit = limit
    var tried: Batch?
    var batch: Batch?
    do {
      batch = try core.write(
        WriteOrigin(context: order.cause.rawValue), .eviction, Savepoints()
      ) { (core) throws in
        tried = nil
        guard let entity = core.schema.entity(of: order) else { return nil }
        let start =
          retriesUnevictable ? position : core.store.unevictableRecords.beginBatch(of: order)
        var batch = Batch(entity.name, from: start)
        // One call may return fewer records than must be evicted, so the loop fills the batch.
        // Records that a rule denies are replaced by later ones.
        while !batch.isLast, batch.ids.count < limit {
          let due = try core.dueRecords(
            of: entity, order.cause, from: batch.end, at: moment,
            atMost: limit - batch.ids.count, retriesUnevictable: retriesUnevictable)
          batch.ids += due.ids
          batch.end = due.end
          batch.isLast = due.isLast
          tried = batch
          if due.ids.isEmpty { break }
          batch.denied.formUnion(try core.evict(due.ids, of: entity, order.cause))
        }
        return batch
      }
      self.limit = min(limit * 2, StoreCore.evictionBatchCount)
    } catch let error as StoreError where error.canHoldRecord {
      // The removal of one record has failed; halving the batch finds the record.
      guard let tried, !tried.ids.isEmpty else { throw error }
      if tried.ids.count > 1 {
        self.limit = tried.ids.count / 2
        return true
      }
      batch = tried
      batch?.denied = Set(tried.ids)
    }
    guard let batch else {
      endOrder()
      return true
    }
    note(batch, of: order)
    if batch.isLast {
      if retriesUnevictable { try report(batch.name, order) }
      endOrder()
    }
    return true
  }

  private func note(_ batch: Batch, of order: EvictionOrder) {
    let count = batch.ids.count - batch.denied.count
    if count > 0 {
      report.evictedCounts[batch.name, default: 0] += count
      report.batchCount += 1
    }
    if retriesUnevictable {
      position = batch.end
      unevictable.formUnion(batch.denied)
    } else {
      core.unevictableRecords.hold(batch.denied, of: order, from: batch.start, to: batch.end)
    }
  }

  private func report(_ name: String, _ order: EvictionOrder) throws {
    core.unevictableRecords.replace(with: unevictable, of: order, to: position)
    // A record that has expired and is also above the limit is counted once.
    let ids = unevictable.subtracting(counted[order.entity] ?? [])
    let moment = moment
    let count = try core.read { core -> Int in
      guard let entity = core.schema.entity(of: order) else { return 0 }
      return try core.heldCount(of: ids, entity, order.cause, at: moment)
    }
    if count > 0 { report.heldCounts[name, default: 0] += count }
    counted[order.entity, default: []].formUnion(ids)
  }

  private func endOrder() {
    orders.removeFirst()
    position = orders.first?.first ?? .first
    unevictable = []
  }
}
