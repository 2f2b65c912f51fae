internal import LodestoreFormat

/// Evicts all records that have expired at one moment, in transactions of a bounded number of
/// records.
///
/// It goes through the index of dates once, and holds what cannot be removed (``HeldRecords``). One
/// transaction finds all records of a batch that a delete rule denies. Where a removal fails
/// otherwise, halves of the batch lead to the record.
///
/// Used by one thread at a time.
final class EvictionPass {
  private let core: StoreCore
  private let moment: Double
  /// Whether records are tried that could not be removed before.
  private let triesHeld: Bool
  private(set) var report = EvictionReport()
  private var limit = StoreCore.evictionBatchCount
  /// The entities that are still to be done.
  private var entities: [EntityNumber]
  /// How far the pass is in the first of ``entities``, and the records that it holds; where it
  /// tries everything.
  private var position = ExpiryPosition.first
  private var held: Set<UInt64> = []

  /// One transaction.
  private struct Batch {
    let name: String
    let start: ExpiryPosition
    let end: ExpiryPosition
    let ids: [UInt64]
    var denied: Set<UInt64> = []
  }

  init(_ core: StoreCore, at moment: Double, triesHeld: Bool) {
    self.core = core
    self.moment = moment
    self.triesHeld = triesHeld
    entities = core.schema.expiring.map(\.number)
    if triesHeld { core.heldRecords.beginPass() }
  }

  deinit { if triesHeld { core.heldRecords.endPass() } }

  /// Does all of it; `onBatch` may end it by an error.
  func run(_ onBatch: (() throws -> Void)? = nil) throws {
    while try step() { try onBatch?() }
  }

  /// Does one transaction; returns whether there is more to do.
  func step() throws -> Bool {
    guard let number = entities.first else { return false }
    let limit = limit
    var tried: Batch?
    var batch: Batch?
    do {
      batch = try core.write(
        WriteOrigin(context: StoreCore.evictionContext), isEviction: true, Savepoints()
      ) { (core) throws in
        tried = nil
        guard let entity = core.schema.expiring.first(where: { $0.number == number }) else {
          return nil
        }
        let start = triesHeld ? position : core.store.heldRecords.beginBatch(of: number)
        let (ids, end) = try core.dueRecords(
          of: entity, from: start, at: moment, atMost: limit, triesHeld: triesHeld)
        var batch = Batch(name: entity.name, start: start, end: end, ids: ids)
        tried = batch
        if !ids.isEmpty { batch.denied = try core.evict(ids, of: entity) }
        return batch
      }
      self.limit = min(limit * 2, StoreCore.evictionBatchCount)
    } catch let error as StoreError where error.canHoldRecord {
      // One of them, or the effect of its removal: halves lead to it.
      guard let tried, !tried.ids.isEmpty else { throw error }
      if tried.ids.count > 1 {
        self.limit = tried.ids.count / 2
        return true
      }
      batch = tried
      batch?.denied = Set(tried.ids)
    }
    guard let batch else {
      endEntity(number)
      return true
    }
    note(batch, of: number)
    if batch.ids.count < limit {
      if triesHeld { try report(batch.name, number) }
      endEntity(number)
    }
    return true
  }

  private func note(_ batch: Batch, of number: EntityNumber) {
    let count = batch.ids.count - batch.denied.count
    if count > 0 {
      report.evictedCounts[batch.name, default: 0] += count
      report.batchCount += 1
    }
    if triesHeld {
      position = batch.end
      held.formUnion(batch.denied)
    } else {
      core.heldRecords.hold(batch.denied, of: number, from: batch.start, to: batch.end)
    }
  }

  private func report(_ name: String, _ number: EntityNumber) throws {
    core.heldRecords.replace(with: held, of: number, to: position)
    let (held, moment) = (held, moment)
    let count = try core.read { core -> Int in
      guard let entity = core.schema.expiring.first(where: { $0.number == number }) else {
        return 0
      }
      return try core.expiredCount(of: held, entity, at: moment)
    }
    if count > 0 { report.heldCounts[name] = count }
  }

  private func endEntity(_ number: EntityNumber) {
    entities.removeFirst()
    position = .first
    held = []
  }
}
