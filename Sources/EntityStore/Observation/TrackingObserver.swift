internal import LodestoreFormat

/// Tracks the entities and relationships that a read uses, and is informed of their changes.
///
/// The mutable state `region` is protected by the lock; `hasGrown` belongs to the task that reads.
class TrackingObserver: Observer, @unchecked Sendable {
  private final var region: ObservedRegion
  /// Whether the last read used an entity or relationship for the first time.
  ///
  /// Commits that changed it since the read began may not have been reported to this observer.
  private(set) final var hasGrown = false

  init(_ region: ObservedRegion = ObservedRegion()) { self.region = region }

  override var dependencies: ObservedRegion { region }

  /// Continues from the observer of the previous store if its dependencies are unchanged.
  ///
  /// - Returns: whether the dependencies are unchanged.
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

  /// Runs `body`, and collects the entities and relationships that it reads.
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
