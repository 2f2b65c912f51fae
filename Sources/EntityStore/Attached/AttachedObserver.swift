internal import LMDB
internal import LodestoreFormat

/// Tracks the entities that a read of one of two stores uses, and reports their changes.
///
/// The `Sendable` conformance is unchecked, because the conformance of the superclass is unchecked.
/// The class adds only a constant.
final class AttachedObserver: TrackingObserver, @unchecked Sendable {
  private let report: @Sendable () -> Void

  init(report: @escaping @Sendable () -> Void) { self.report = report }

  override func notice() { report() }
}

/// The values of one loop over both stores.
///
/// A value is read again after each commit that may change it, and after each replacement of the
/// dataset. The `Sendable` conformance is unchecked, because only the task of the loop uses the
/// feed, except `observed`.
final class AttachedFeed<Value: Sendable>: @unchecked Sendable {
  typealias Read = @Sendable (borrowing AttachedSnapshot) throws -> Value

  private typealias Handle = ObserverHandle<AttachedObserver>
  /// The observed store of the dataset; under a lock, because replacements release it.
  private struct ObservedDataset {
    var current: (store: Store, handle: Handle)?
    /// Whether the loop is reading the value; such a read may add entities to those that the
    /// observer tracks.
    var isReading = false
  }
  private typealias Observed = Guarded<ObservedDataset>

  private let attached: AttachedStore
  private let read: Read
  private let news: AsyncStream<Void>
  private let signal: AsyncStream<Void>.Continuation
  private var own: Handle?
  private let observed = Observed(ObservedDataset())
  private var replacements: Task<Void, Never>?
  private var isOver = false

  init(_ attached: AttachedStore, _ read: @escaping Read) {
    self.attached = attached
    self.read = read
    (news, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  deinit { replacements?.cancel() }

  /// Returns the next value; `nil` when the task is cancelled, or the store or the dataset is
  /// closed.
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
      defer { observed.current = nil }
      return observed.current
    }
    replacements?.cancel()
  }

  private func waited() async throws -> Value? {
    guard let own else { return try await first() }
    for await _ in news {
      if Task.isCancelled || own.observer.isOver { return nil }
      let current = try attached.dataset.currentStore
      if let other = observed.withLock({ $0.current }), other.store === current {
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

  /// Wakes the loop at each replacement of the dataset that may change its value, and releases the
  /// replaced store.
  ///
  /// The release does not wait for the loop, so a long loop body keeps no file open.
  private static func follow<D: AttachableDataset>(
    _ dataset: D, _ observed: Observed, _ signal: AsyncStream<Void>.Continuation
  ) -> Task<Void, Never> {
    @Sendable func notice() {
      let current = try? dataset.currentStore
      if let current, goesOn(observed, in: current, signal) { return }
      _ = observed.withLock { observed in
        let released = observed.current
        if observed.current?.store !== current { observed.current = nil }
        return released
      }
      signal.yield()
    }
    return Task {
      var iterator = dataset.replacements.makeAsyncIterator()
      // The iterator does not report a replacement before its creation, so the current store is
      // checked once at the beginning.
      notice()
      while (try? await iterator.next()) != nil { notice() }
      // A sequence that throws has ended. The loop then requests the dataset's store once more, and
      // ends with the error that it gets.
      if !Task.isCancelled { notice() }
    }
  }

  /// Observes the new store of the dataset in place of the previous one, if the value's
  /// dependencies are unchanged.
  ///
  /// - Returns: whether the dependencies are unchanged, so that the loop need not read the value
  ///   again.
  private static func goesOn(
    _ observed: Observed, in current: Store, _ signal: AsyncStream<Void>.Continuation
  ) -> Bool {
    let (before, isReading) = observed.withLock { ($0.current, $0.isReading) }
    guard let before, before.store !== current, !isReading else { return false }
    let handle: Handle
    do {
      handle = try Handle(AttachedObserver { signal.yield() }, in: current.observations)
      let follows = try current.core.read { core in
        try handle.observer.goOn(from: before.handle.observer, of: before.store.core, core)
      }
      guard follows else { return false }
    } catch {
      // A closed or damaged store cannot show whether the dependencies changed, so the value is
      // read again.
      return false
    }
    current.observations.extend(handle.observer)
    return observed.withLock { observed in
      guard !observed.isReading, observed.current?.store === before.store else { return false }
      observed.current = (current, handle)
      return true
    }
  }

  /// Repeats the read until it uses only entities and relationships that were observed before it
  /// began.
  ///
  /// A change of any other one could be missed.
  private func fetch(_ own: Handle) async throws -> Value? {
    observed.withLock { $0.isReading = true }
    defer { observed.withLock { $0.isReading = false } }
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

  /// Returns the observer of the dataset's current store.
  private func handle(of store: Store) throws -> Handle {
    if let other = observed.withLock({ $0.current }), other.store === store {
      return other.handle
    }
    let signal = signal
    let handle = try Handle(AttachedObserver { signal.yield() }, in: store.observations)
    _ = observed.withLock { observed in
      defer { observed.current = (store, handle) }
      return observed.current
    }
    return handle
  }
}
