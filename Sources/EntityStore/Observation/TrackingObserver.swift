internal import LodestoreFormat

/// Notes which entities and relationships a read uses, and is told of changes of them.
///
/// Mutable state: `region`, under the lock; `hasGrown`, of the one task that reads.
class TrackingObserver: Observer, @unchecked Sendable {
  private final var region: ObservedRegion
  /// Whether the last read has used an entity or relationship for the first time.
  ///
  /// Commits to it since the read began may have been reported to nobody.
  private(set) final var hasGrown = false

  init(_ region: ObservedRegion = ObservedRegion()) { self.region = region }

  override var dependencies: ObservedRegion { region }

  /// Goes on from an observer of the store before, when nothing has changed of what it depends on.
  ///
  /// - Returns: whether that is so.
  final func goOn(
    from last: TrackingObserver, of older: StoreCore, _ core: TransactionCore
  ) throws -> Bool {
    let region = last.region
    guard try StoreReplacement.delta(from: older, to: core, in: region)?.isEmpty == true else {
      return false
    }
    lock.lock()
    self.region = region
    lock.unlock()
    start(at: core)
    return true
  }

  /// Runs `body` and notes which entities and relationships it reads.
  final func tracking<R>(_ core: TransactionCore, _ body: () throws -> R) throws -> R {
    let tracker = ReadTracker()
    core.tracker = tracker
    defer { core.tracker = nil }
    let result = try body()
    hasGrown =
      !tracker.entities.isSubset(of: region.entities)
      || !tracker.relationships.isSubset(of: region.relationships)
    lock.lock()
    region.entities.formUnion(tracker.entities)
    region.relationships.formUnion(tracker.relationships)
    lock.unlock()
    start(at: core)
    return result
  }
}
