internal import LMDB

/// When snapshots are warned of and ended.
struct SnapshotLimits: Sendable {
  var limit: Duration?
  var warningAge: Duration
  var warn: (@Sendable (SnapshotWarning) -> Void)?

  /// Whether ages matter at all.
  var areSet: Bool { limit != nil || warn != nil }

  /// How often ages are looked at.
  var pause: Duration { min(min(limit ?? warningAge, warningAge) / 10, .seconds(1)) }
}

extension StoreOptions {
  var snapshotLimits: SnapshotLimits {
    SnapshotLimits(
      limit: snapshotAgeLimit, warningAge: snapshotWarningAge, warn: onSnapshotWarning)
  }
}

/// The pinned snapshots of one store, whose ages are looked at once there are later commits, of
/// this process or of another.
///
/// Without commits a snapshot costs nothing, whatever its age. The store and each snapshot refer to
/// it, so that the limits hold for snapshots that outlive the store's object.
final class SnapshotRegistry: StoreCompanion {
  private struct Weak {
    weak var snapshot: PinnedSnapshot?
  }

  private struct State {
    var snapshots: [Weak] = []
    /// Ends the listening to commits.
    var unlisten: (@Sendable () -> Void)?
    var isClosed = false
    var lastCheck = ContinuousClock.now
  }

  private let state = Guarded(State())

  deinit { state.withLock { $0.unlisten }?() }

  /// Ends the snapshots.
  func close() {
    let (snapshots, unlisten) = state.withLock { state in
      state.isClosed = true
      defer { state.unlisten = nil }
      return (state.snapshots.compactMap(\.snapshot), state.unlisten)
    }
    unlisten?()
    for snapshot in snapshots { snapshot.end() }
  }

  /// Called when a snapshot has been made.
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
    // Commits of other processes. Where no thread can be started, those of this process have to do.
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
    // Closed meanwhile, or another thread was faster.
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
      // The next snapshot has it begin again.
      defer { state.unlisten = nil }
      return (false, state.unlisten)
    }
    unlisten?()
    // The writer does not wait for a read that runs.
    if isDue { store.environment.readerThreads.submit { self.check(limits, newest) } }
  }

  private func check(_ limits: SnapshotLimits, _ newest: UInt64) {
    for snapshot in state.withLock({ $0.snapshots.compactMap(\.snapshot) }) {
      snapshot.checkAge(limits, newest: newest)
    }
  }
}
