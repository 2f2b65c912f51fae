internal import LMDB
internal import LodestoreFormat

/// Notes which entities a read of one of two stores has used, and reports changes of them.
///
/// Mutable state: `region`, under the observer's lock; `hasGrown`, of the one task that reads.
final class AttachedObserver: Observer, @unchecked Sendable {
  private var region = ObservedRegion()
  private let report: @Sendable () -> Void
  /// Whether the last read has used an entity or relationship for the first time.
  ///
  /// Commits to it that were made during the read may not have been reported.
  private(set) var hasGrown = false

  init(report: @escaping @Sendable () -> Void) { self.report = report }

  override var dependencies: ObservedRegion { region }

  override func notice() { report() }

  /// Runs `body` and notes which entities and relationships it reads.
  func tracking<R>(_ core: TransactionCore, _ body: () throws -> R) throws -> R {
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

/// The values of one loop over both stores: read again after each commit that may change them and
/// after each replacement of the dataset.
///
/// Unchecked: used by the one task that loops, but for `observed`.
final class AttachedFeed<Value: Sendable>: @unchecked Sendable {
  typealias Read = @Sendable (borrowing AttachedSnapshot) throws -> Value

  private typealias Handle = ObserverHandle<AttachedObserver>
  /// The store of the dataset that is observed; under a lock, as replacements release it.
  private typealias Observed = Guarded<(store: Store, handle: Handle)?>

  private let attached: AttachedStore
  private let read: Read
  private let news: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation
  private var own: Handle?
  private let observed = Observed(nil)
  private var replacements: Task<Void, Never>?
  private var isOver = false

  init(_ attached: AttachedStore, _ read: @escaping Read) {
    self.attached = attached
    self.read = read
    (news, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  deinit { replacements?.cancel() }

  /// The next value; `nil` when the task is cancelled, or the store or the dataset is closed.
  func next() async throws -> Value? {
    if isOver || Task.isCancelled { return nil }
    do {
      if let value = try await waited() { return value }
    } catch {
      end()
      throw error
    }
    end()
    return nil
  }

  private func end() {
    isOver = true
    own = nil
    _ = observed.withLock { observed in
      defer { observed = nil }
      return observed
    }
    replacements?.cancel()
  }

  private func waited() async throws -> Value? {
    guard let own else { return try await first() }
    for await _ in news {
      if Task.isCancelled || own.observer.isOver { return nil }
      let current = try attached.dataset.currentStore
      if let other = observed.withLock({ $0 }), other.store === current {
        if other.handle.observer.isOver { return nil }
        guard own.observer.hasNews || other.handle.observer.hasNews else { continue }
      }
      return try await fetch(own)
    }
    return nil
  }

  private func first() async throws -> Value? {
    let center = attached.store.observations
    try center.core.checkOpen("observe")
    let signal = signal
    replacements = Self.follow(attached.dataset, observed, signal)
    let own = try Handle(AttachedObserver { signal.yield() }, in: center)
    self.own = own
    return try await fetch(own)
  }

  /// Wakes the loop at each replacement of the dataset, and releases the store that was replaced: a
  /// loop whose body takes long keeps no file open.
  private static func follow<D: AttachableDataset>(
    _ dataset: D, _ observed: Observed, _ signal: AsyncStream<Void>.Continuation
  ) -> Task<Void, Never> {
    @Sendable func notice() {
      let current = try? dataset.currentStore
      _ = observed.withLock { observed in
        let released = observed
        if observed?.store !== current { observed = nil }
        return released
      }
      signal.yield()
    }
    return Task {
      var iterator = dataset.replacements.makeAsyncIterator()
      // The iterator reports no replacement from before its making.
      notice()
      // A sequence that throws has ended. The loop goes on with the store that it has.
      while (try? await iterator.next()) != nil { notice() }
    }
  }

  /// Reads until all that the value depends on was observed before the read began.
  private func fetch(_ own: Handle) async throws -> Value? {
    while true {
      let current = try attached.dataset.currentStore
      do {
        let other = try handle(of: current)
        let value = try await value(own.observer, current, other.observer)
        own.center.extend(own.observer)
        other.center.extend(other.observer)
        if !own.observer.hasGrown, !other.observer.hasGrown { return value }
      } catch let error as StoreError where error.code == .closed {
        if own.observer.isOver { return nil }
        guard try attached.dataset.currentStore !== current else { throw error }
      }
    }
  }

  private func value(
    _ own: AttachedObserver, _ dataset: Store, _ other: AttachedObserver
  ) async throws -> Value {
    let (core, read) = (attached.store.core, read)
    return try await core.onReader {
      try withExtendedLifetime(dataset) {
        try core.read { core in
          try own.tracking(core) {
            try dataset.core.read { dataset in
              try other.tracking(dataset) { try read(AttachedSnapshot(core, dataset)) }
            }
          }
        }
      }
    }
  }

  /// The observer of the dataset's current store.
  private func handle(of store: Store) throws -> Handle {
    if let other = observed.withLock({ $0 }), other.store === store { return other.handle }
    let signal = signal
    let handle = try Handle(AttachedObserver { signal.yield() }, in: store.observations)
    _ = observed.withLock { observed in
      defer { observed = (store, handle) }
      return observed
    }
    return handle
  }
}
