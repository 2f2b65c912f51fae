internal import LMDB

/// The ages at which pinned snapshots cause a warning or are ended.
struct SnapshotLimits: Sendable {
  var limit: Duration?
  var warningAge: Duration
  var warn: (@Sendable (SnapshotWarning) -> Void)?

  /// Whether the program has set a limit or a receiver of warnings.
  var areSet: Bool { limit != nil || warn != nil }

  /// The interval at which ages are checked.
  var pause: Duration { min(min(limit ?? warningAge, warningAge) / 10, .seconds(1)) }
}

extension StoreOptions {
  var snapshotLimits: SnapshotLimits {
    SnapshotLimits(
      limit: snapshotAgeLimit, warningAge: snapshotWarningAge, warn: onSnapshotWarning)
  }
}

/// The pinned snapshots of one store.
///
/// Their ages are checked after later commits, by this or another process. Without later commits a
/// snapshot costs nothing at any age. The store and each snapshot retain the registry, so that
/// limits apply to snapshots that outlive the store's object.
final class SnapshotRegistry: StoreCompanion {
  private struct Weak {
    weak var snapshot: PinnedSnapshot?
  }

  private struct State {
    var snapshots: [Weak] = []
    /// Stops listening to commits.
    var unlisten: (@Sendable () -> Void)?
    var isClosed = false
    var lastCheck = ContinuousClock.now
  }

  private let state = Guarded(State())

  deinit { state.withLock { $0.unlisten }?() }

  /// Ends all snapshots.
  func close() {
    let (snapshots, unlisten) = state.withLock { state in
      state.isClosed = true
      defer { state.unlisten = nil }
      return (state.snapshots.compactMap(\.snapshot), state.unlisten)
    }
    unlisten?()
    for snapshot in snapshots { snapshot.end() }
  }

  /// Adds a new snapshot.
  func add(_ snapshot: PinnedSnapshot, _ store: StoreCore) {
    let (isFirst, isClosed) = state.withLock { state in
      state.snapshots.removeAll { $0.snapshot == nil }
      state.snapshots.append(Weak(snapshot: snapshot))
      return (state.unlisten == nil, state.isClosed)
    }
    if isClosed { return snapshot.end() }
    if isFirst, store.options.snapshotLimits.areSet { listen(to: store) }
  }

  private func listen(to store: StoreCore) {
    let environment = store.environment
    let limits = store.options.snapshotLimits
    let listener = environment.addCommitListener { [weak self, weak store] commit in
      if let store { self?.noticeCommit(commit, limits, store) }
    }
    // Reports commits of other processes. If no thread can be started, only commits of this process
    // are noticed.
    let watch = FileWatch(environment) { [weak self, weak store] in
      guard let store, let newest = store.environment.newestCommit else { return }
      self?.noticeCommit(newest, limits, store)
    }
    let unlisten: @Sendable () -> Void = {
      environment.removeCommitListener(listener)
      watch?.stop()
    }
    let isKept = state.withLock { state in
      if state.isClosed || state.unlisten != nil { return false }
      state.unlisten = unlisten
      return true
    }
    // The registry was closed meanwhile, or another thread has begun to listen.
    guard isKept else { return unlisten() }
    _ = watch?.start()
  }

  private func noticeCommit(_ newest: UInt64, _ limits: SnapshotLimits, _ store: StoreCore) {
    let now = ContinuousClock.now
    let (isDue, unlisten) = state.withLock { state in
      guard state.lastCheck.duration(to: now) > limits.pause else {
        return (false, nil as (@Sendable () -> Void)?)
      }
      state.lastCheck = now
      state.snapshots.removeAll { $0.snapshot == nil }
      guard state.snapshots.isEmpty else { return (true, nil) }
      // There are no snapshots, so listening stops until the next one is added.
      defer { state.unlisten = nil }
      return (false, state.unlisten)
    }
    unlisten?()
    // The check runs on another thread, because it may wait for a read of a snapshot, and the
    // writer's thread must not.
    if isDue { store.environment.readerThreads.submit { self.check(limits, newest) } }
  }

  private func check(_ limits: SnapshotLimits, _ newest: UInt64) {
    for snapshot in state.withLock({ $0.snapshots.compactMap(\.snapshot) }) {
      snapshot.checkAge(limits, newest: newest)
    }
  }
}
