internal import LMDB

/// Evicts records of a store that is open for writing, on the writer's thread, in the background.
///
/// A write also evicts before it begins. The keeper evicts when the store is opened, after a
/// record's date has passed without a write, and after a commit. ``StoreOptions/evictionInterval``
/// separates two evictions, so that records that expire one after the other cost one commit for
/// each interval. After a commit that leaves an entity far above its limit, the keeper evicts at
/// once.
///
/// A mutex protects the only mutable state, the listener for commits.
final class EvictionKeeper: StoreCompanion {
  private let core: StoreCore
  private let interval: Duration
  private let alarm = Alarm()
  private static let pauseAfterError = Duration.seconds(10)
  private let listener = Guarded<Int?>(nil)

  init(_ core: StoreCore, interval: Duration) {
    self.core = core
    self.interval = interval
  }

  deinit { close() }

  /// Starts the keeper; the first eviction follows soon.
  func start() {
    let environment = core.environment
    // A commit may add a record that expires before all others. The alarm therefore rings at most
    // one interval after the commit.
    let key = environment.addCommitListener { [weak self] _ in
      guard let self, self.core.schema.evicts else { return }
      let isSoon = self.core.evictsSoon.exchange(false, ordering: .relaxed)
      self.scheduleEviction(after: isSoon ? .zero : self.interval)
    }
    listener.withLock { $0 = key }
    scheduleEviction(after: .zero)
  }

  func close() {
    alarm.end()
    let key = listener.withLock { listener in
      defer { listener = nil }
      return listener
    }
    if let key { core.environment.removeCommitListener(key) }
  }

  private func scheduleEviction(after delay: Duration) {
    alarm.set(after: delay) { [weak self] in await self?.evict() }
  }

  private func evict() async {
    do {
      guard let wait = try await evictAll(core) else { return }
      // System timers do not follow changes of the clock, so the clock is read again at least each
      // minute.
      scheduleEviction(after: max(interval, .seconds(min(wait, 60))))
    } catch {
      // The next write evicts too, and throws the error. Without a write, the keeper tries again.
      // Records that an earlier pass found unevictable stay so.
      scheduleEviction(after: max(interval, Self.pauseAfterError))
    }
  }
}

extension EvictionKeeper {
  /// Evicts all records that have expired or are above a limit; other writes may run in between.
  ///
  /// Records that could not be removed before are tried again.
  ///
  /// - Returns: the seconds from the beginning until the next record expires; the record may have
  ///   expired meanwhile. `nil` when no record expires.
  private func evictAll(_ core: StoreCore) async throws -> Double? {
    let moment = core.options.moment
    let pass = try await core.onWriter { () throws -> SendableBox<EvictionPass>? in
      try core.checkOpen("evict records of")
      let isDue = try core.read {
        try $0.hasExpired(ofAny: $0.schema.expiring) || $0.isAboveLimit()
      }
      guard isDue else { return nil }
      return SendableBox(EvictionPass(core, at: moment, retriesUnevictable: true))
    }
    if let pass { while try await core.onWriter({ try pass.value.step() }) {} }
    return try await core.onWriter {
      try core.read { core -> Double? in
        let dates = try core.schema.expiring.compactMap {
          try core.firstExpiry(of: $0, after: moment)
        }
        return dates.min().map { $0 - moment }
      }
    }
  }
}

/// A value that one thread at a time uses, passed from one thread to the next.
private struct SendableBox<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
