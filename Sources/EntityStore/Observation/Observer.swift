internal import LMDB
internal import LodestoreFormat

extension ObservedRegion {
  func isTouched(by delta: CommitDelta) -> Bool {
    if delta.isUnknown { return true }
    if !relationships.isDisjoint(with: delta.relationships) { return true }
    return delta.entities.keys.contains { entities.contains($0) }
  }
}

/// An object that depends on the content of the store, and is updated when the content changes.
///
/// One task waits for news of the observer. While the task waits, the job of the
/// ``ObservationCenter`` may compute an update. Otherwise the observer stores the changes for
/// later.
///
/// `lock` protects the mutable state, except `waiting`, which has its own lock. The lock of
/// `waiting` is never held while an update is computed, so that cancelling a task or stopping a
/// list does not block.
class Observer: @unchecked Sendable {
  enum Signal {
    /// There are changes to process.
    case changed
    /// The job has computed an update, which is in the observer.
    case updated
    case ended
  }

  /// The changes after the commit `from`, up to the commit `commit`.
  private struct Pending {
    var from: UInt64
    var commit: UInt64
    var delta: CommitDelta
    /// The time at which a record expired; an earlier read of the commit still contains it.
    var moment = -Double.infinity
  }

  private enum Waiting {
    case nobody
    case task(UnsafeContinuation<Signal, Never>)
    /// The observer has ended.
    case over

    var task: UnsafeContinuation<Signal, Never>? {
      if case .task(let continuation) = self { continuation } else { nil }
    }

    var isOver: Bool { if case .over = self { true } else { false } }
  }

  let lock = ManualLock()
  private let waiting = Guarded(Waiting.nobody)
  private var pending: [Pending] = []
  /// The commit of the current state, `nil` before the first read; older commits are ignored.
  private var commit: UInt64?

  /// The entities and relationships on which the observer depends.
  ///
  /// The getter may be called with or without holding `lock`.
  var dependencies: ObservedRegion { ObservedRegion() }

  /// Returns whether the changes may matter; called with the lock held while nothing is pending.
  func isConcerned(by changes: ObservationRound) -> Bool { true }

  /// Computes an update from the changes since the current state, and stores it in the observer.
  ///
  /// Called with the lock held, while a task waits.
  ///
  /// - Returns: true for an update; false when nothing that is delivered has changed; `nil` when
  ///   the task must read for itself.
  func update(by changes: ObservationRound) -> Bool? { nil }

  /// Called when changes become pending and when the observer ends; the lock may be held.
  ///
  /// Observers of several stores override this method, because no task waits in them.
  func notice() {}

  /// Whether changes are pending that the current state does not contain.
  final var hasNews: Bool {
    lock.lock()
    defer { lock.unlock() }
    return !pending.isEmpty
  }

  /// Whether the observer has ended.
  final var isOver: Bool { waiting.withLock { $0.isOver } }

  /// Processes the changes of commits; called by the job of the center.
  final func learn(_ changes: ObservationRound) {
    lock.lock()
    let number = changes.commit
    guard number > commit ?? 0, dependencies.isTouched(by: changes.delta) else {
      return deliver(nil, changes.core)
    }
    // The changes may begin before the commit of the current state, and include some that the state
    // already contains. The state cannot then be updated by these changes alone.
    let isWhole = commit.map { changes.from >= $0 } ?? false
    if !pending.isEmpty || !isWhole || isConcerned(by: changes) {
      note(changes.from, number, changes.delta)
    }
    deliver(isWhole && pending.count == 1 ? changes : nil, changes.core)
  }

  /// Computes the pending update if a task waits for it.
  ///
  /// Called by the job of the center after all commits that `core` sees have been reported.
  final func deliver(_ core: TransactionCore) {
    lock.lock()
    deliver(nil, core)
  }

  /// Computes the update for a waiting task, and wakes the task unless nothing has changed for it.
  ///
  /// The lock is held at the call, and is always released.
  ///
  /// - Parameter changes: all pending changes; `nil` when they must be merged first.
  private func deliver(_ changes: ObservationRound?, _ core: TransactionCore) {
    let isWaitedFor = waiting.withLock { $0.task != nil }
    guard isWaitedFor, let first = pending.first else { return lock.unlock() }
    var signal = Signal.changed
    if let commit, first.from >= commit,
      let isUpdate = update(by: changes ?? ObservationRound(merged, from: commit, core))
    {
      self.commit = core.commitNumber.rawValue
      pending = []
      guard isUpdate else { return lock.unlock() }
      signal = .updated
    }
    // The result is nil if the task was cancelled meanwhile.
    let continuation = takeWaiting()
    lock.unlock()
    continuation?.resume(returning: signal)
  }

  /// Removes and returns the waiting task, which the caller must resume.
  private func takeWaiting(leaving next: Waiting = .nobody) -> UnsafeContinuation<Signal, Never>? {
    waiting.withLock { waiting in
      defer { if !waiting.isOver { waiting = next } }
      return waiting.task
    }
  }

  private var merged: CommitDelta {
    var merged = pending.first?.delta ?? CommitDelta()
    for entry in pending.dropFirst() { merged.merge(entry.delta) }
    return merged
  }

  private func note(
    _ from: UInt64, _ number: UInt64, _ delta: CommitDelta, at moment: Double = -.infinity
  ) {
    // While nobody requests updates of the observer, its changes are merged. Otherwise the list
    // would grow without limit.
    if let first = pending.first, pending.count >= 16 {
      pending = [
        Pending(
          from: first.from, commit: pending[pending.count - 1].commit, delta: merged,
          moment: pending.reduce(-.infinity) { max($0, $1.moment) })
      ]
    }
    pending.append(Pending(from: from, commit: number, delta: delta, moment: moment))
    notice()
  }

  /// Makes the waiting task read for itself, at commit `newest` or a later one.
  ///
  /// - Parameter moment: the time at which a record expired; reads that began earlier do not
  ///   suffice.
  final func wake(_ newest: UInt64, at moment: Double = -.infinity) {
    lock.lock()
    note(0, newest, .unknown, at: moment)
    let continuation = takeWaiting()
    lock.unlock()
    continuation?.resume(returning: .changed)
  }

  /// Sets the current state to that of a read.
  final func start(at core: TransactionCore) {
    start(at: core.commitNumber.rawValue, core.moment ?? .infinity)
  }

  /// Sets the current state to that of `commit`, from a read that began at `moment`.
  final func start(at commit: UInt64, _ moment: Double = .infinity) {
    lock.lock()
    self.commit = commit
    pending.removeAll { $0.commit <= commit && $0.moment <= moment }
    // The new state contains an unknown part of these pending changes, so the changes that it lacks
    // are unknown too.
    for index in pending.indices where pending[index].from < commit {
      pending[index].delta = .unknown
    }
    lock.unlock()
  }

  /// Waits for news; returns immediately when changes are pending.
  ///
  /// - Parameter request: requests a call of ``deliver(_:)``.
  final func wait(_ request: @Sendable () -> Void) async -> Signal {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let isOver = waiting.withLock { waiting in
          if !waiting.isOver { waiting = .task(continuation) }
          return waiting.isOver
        }
        if isOver { return continuation.resume(returning: .ended) }
        // Changes that arrive from now on find the waiting task. For earlier changes, a call of
        // ``deliver(_:)`` is requested here.
        if hasNews { request() }
      }
    } onCancel: {
      end()
    }
  }

  /// Ends the observer, because the store is closed or the waiting task is cancelled.
  final func end() {
    takeWaiting(leaving: .over)?.resume(returning: .ended)
    notice()
  }
}

/// A handle that keeps an observer registered for the handle's lifetime.
final class ObserverHandle<O: Observer>: Sendable {
  let observer: O
  let center: ObservationCenter

  init(_ observer: O, in center: ObservationCenter) throws {
    self.observer = observer
    self.center = center
    try center.add(observer)
  }

  deinit { center.remove(observer) }
}
