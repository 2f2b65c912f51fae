internal import LMDB

/// When snapshots are warned of and ended.
struct SnapshotLimits: Sendable {
  var limit: Duration?
  var warningAge: Duration
  var warn: (@Sendable (SnapshotWarning) -> Void)?
}

extension StoreOptions {
  var snapshotLimits: SnapshotLimits {
    SnapshotLimits(
      limit: snapshotAgeLimit, warningAge: snapshotWarningAge, warn: onSnapshotWarning)
  }
}

/// The pinned snapshots of one store, whose ages are looked at while there are commits.
///
/// Without commits a snapshot costs nothing, whatever its age.
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
    let limits = store.options.snapshotLimits
    guard isFirst, limits.limit != nil || limits.warn != nil else { return }
    let listener = store.environment.addCommitListener { [weak self, weak store] _ in
      guard let self, let store, self.isDue(limits) else { return }
      // The writer does not wait for a read that runs.
      store.environment.readerThreads.submit { self.check(limits) }
    }
    let environment = store.environment
    let unlisten: @Sendable () -> Void = { environment.removeCommitListener(listener) }
    let isKept = state.withLock { state in
      if state.isClosed || state.unlisten != nil { return false }
      state.unlisten = unlisten
      return true
    }
    // Closed meanwhile, or another thread was faster.
    if !isKept { unlisten() }
  }

  private func isDue(_ limits: SnapshotLimits) -> Bool {
    let now = ContinuousClock.now
    let pause = min(limits.limit ?? limits.warningAge, limits.warningAge) / 10
    return state.withLock { state in
      guard state.lastCheck.duration(to: now) > min(pause, .seconds(1)) else { return false }
      state.lastCheck = now
      return !state.snapshots.isEmpty
    }
  }

  private func check(_ limits: SnapshotLimits) {
    for snapshot in state.withLock({ $0.snapshots.compactMap(\.snapshot) }) {
      snapshot.checkAge(limits)
    }
  }
}
