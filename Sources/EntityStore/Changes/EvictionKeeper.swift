internal import LMDB

/// Evicts records of a store that is open for writing, on the writer's thread, while nothing else
/// has it done.
///
/// A write evicts before it begins. The keeper evicts when the store is opened, after a record's date
/// has passed without a write, and after a commit; between two evictions is
/// ``StoreOptions/evictionInterval``. Records that expire one after the other then cost one commit
/// for each interval. Only behind a commit that leaves an entity far above its limit it evicts at
/// once.
///
/// State, under its mutex: the listener.
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

  /// Evicts soon, and from then on.
  func start() {
    let environment = core.environment
    // A record that is written may expire before all others. The alarm that is set already is not
    // later than one interval after the last eviction, or there was none to wait for.
    let key = environment.addCommitListener { [weak self] _ in
      guard let self, self.core.schema.evicts else { return }
      let isSoon = self.core.evictsSoon.exchange(false, ordering: .relaxed)
      self.look(after: isSoon ? .zero : self.interval)
    }
    listener.withLock { $0 = key }
    look(after: .zero)
  }

  func close() {
    alarm.end()
    let key = listener.withLock { listener in
      defer { listener = nil }
      return listener
    }
    if let key { core.environment.removeCommitListener(key) }
  }

  private func look(after delay: Duration) {
    alarm.set(after: delay) { [weak self] in await self?.evict() }
  }

  private func evict() async {
    do {
      guard let wait = try await evictAll(core) else { return }
      // Timers of the system count in its own time: the clock is asked again at least each minute.
      look(after: max(interval, .seconds(min(wait, 60))))
    } catch {
      // The next write evicts too, and throws the error. Without one this is tried again. What a pass
      // had held before stays held.
      look(after: max(interval, Self.pauseAfterError))
    }
  }
}

extension EvictionKeeper {
  /// Tries everything, as the reason why a record could not be removed may be gone; other writes have
  /// their turn between two transactions.
  ///
  /// - Returns: the time from the beginning until the next record expires, which may have expired
  ///   meanwhile; `nil` for none.
  private func evictAll(_ core: StoreCore) async throws -> Double? {
    let moment = core.options.moment
    let pass = try await core.onWriter { () throws -> Handed<EvictionPass>? in
      try core.checkOpen("evict records of")
      let isDue = try core.read {
        try $0.hasExpired(ofAny: $0.schema.expiring) || $0.isAboveLimit()
      }
      guard isDue else { return nil }
      return Handed(EvictionPass(core, at: moment, triesHeld: true))
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

/// Something that one thread at a time has, handed from one to the next.
private struct Handed<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}
