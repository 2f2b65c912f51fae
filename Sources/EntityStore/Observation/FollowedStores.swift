internal import LMDB

/// The store whose results a loop follows.
struct ObservedStore: Sendable {
  let center: ObservationCenter
  /// Keeps a store of a sequence open while the loop follows it.
  let store: Store?
}

/// The source of the stores that a loop follows: a single store, or a sequence.
@usableFromInline
struct FollowedOrigin: Sendable {
  fileprivate enum Stores: Sendable {
    case one(ObservationCenter)
    /// Passes each store of a sequence to `pass`, until the sequence ends.
    case newest(@Sendable (_ pass: @Sendable (Store) -> Void) async throws -> Void)
  }

  fileprivate let stores: Stores

  init(_ store: Store) { stores = .one(store.observations) }

  init<Sequence: AsyncSequence & Sendable>(_ sequence: Sequence) where Sequence.Element == Store {
    stores = .newest { pass in
      for try await store in sequence { pass(store) }
    }
  }
}

/// The stores that one loop follows: a single store, or the newest store of a sequence.
final class FollowedStores: Sendable {
  /// The stores that the loop has not taken, and the observer to wake.
  private struct Arrivals {
    var arrived: ObservedStore?
    /// The end of the sequence; `nil` while it continues.
    var end: Result<Void, any Error>?
    var observer: Observer?

    var isThere: Bool { arrived != nil || end != nil }
  }

  private let arrivals: Guarded<Arrivals>
  /// The task that iterates over the sequence while the loop exists.
  private let task: Task<Void, Never>?

  init(_ origin: FollowedOrigin) {
    switch origin.stores {
    case .one(let center):
      arrivals = Guarded(Arrivals(arrived: ObservedStore(center: center, store: nil)))
      task = nil
    case .newest(let pump):
      let arrivals = Guarded(Arrivals())
      self.arrivals = arrivals
      task = Task {
        do {
          try await pump { store in
            let observed = ObservedStore(center: store.observations, store: store)
            Self.change(arrivals) { $0.arrived = observed }
          }
          Self.change(arrivals) { $0.end = .success(()) }
        } catch {
          Self.change(arrivals) { $0.end = .failure(error) }
        }
      }
    }
  }

  deinit { task?.cancel() }

  /// Changes the arrivals and wakes the observer.
  private static func change(_ arrivals: Guarded<Arrivals>, _ body: (inout Arrivals) -> Void) {
    let before = arrivals.withLock { arrivals in
      defer { body(&arrivals) }
      return arrivals
    }
    before.observer?.wake(0)
    // A store that nobody has taken is released outside the lock.
    withExtendedLifetime(before) {}
  }

  /// Whether other stores may follow.
  var isSequence: Bool { task != nil }

  /// Whether ``next()`` can return immediately.
  var hasArrival: Bool { arrivals.withLock { $0.isThere } }

  /// Waits for the newest store that has not been returned, and returns it.
  ///
  /// Returns `nil` when no store follows, or when the task is cancelled.
  func next() async throws -> ObservedStore? {
    // A single store has no successor.
    guard isSequence || hasArrival else { return nil }
    let waiting = Observer()
    wakeOnArrival(waiting)
    while !hasArrival {
      if await waiting.wait({ waiting.wake(0) }) == .ended { return nil }
    }
    if Task.isCancelled { return nil }
    return try arrivals.withLock { arrivals in
      if let arrived = arrivals.arrived {
        arrivals.arrived = nil
        return arrived
      }
      try arrivals.end?.get()
      return nil
    }
  }

  /// Sets the one observer that an arrival wakes.
  func wakeOnArrival(_ observer: Observer?) { arrivals.withLock { $0.observer = observer } }
}
