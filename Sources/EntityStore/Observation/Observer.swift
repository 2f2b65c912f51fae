internal import LMDB
internal import LodestoreFormat

extension ObservedRegion {
  func isTouched(by delta: ChangeDelta) -> Bool {
    if delta.isUnknown { return true }
    if !relationships.isDisjoint(with: delta.relationships) { return true }
    return delta.entities.keys.contains { entities.contains($0) }
  }
}

/// Something that depends on what is in the store, and is worked out again when that changes.
///
/// One task asks it for news. While that waits, the job of the ``ObservationCenter`` may work them
/// out; otherwise what has changed is noted.
///
/// Mutable state, under `lock`, but for `waiting`. Nobody holds the lock of that while an update is
/// worked out: a task that is cancelled, or a list that is stopped, waits for none.
class Observer: @unchecked Sendable {
  enum Signal {
    /// There is something to work out.
    case changed
    /// An update has been worked out, and waits in the observer.
    case updated
    case ended
  }

  /// What has changed after the commit `from`, up to the commit `commit`.
  private struct Pending {
    var from: UInt64
    var commit: UInt64
    var delta: ChangeDelta
    /// When a record has expired: a read of the commit that began earlier still has it.
    var moment = -Double.infinity
  }

  private enum Waiting {
    case nobody
    case task(UnsafeContinuation<Signal, Never>)
    /// Nothing is told any more.
    case over

    var task: UnsafeContinuation<Signal, Never>? {
      if case .task(let continuation) = self { continuation } else { nil }
    }

    var isOver: Bool { if case .over = self { true } else { false } }
  }

  let lock = HeldLock()
  private let waiting = Guarded(Waiting.nobody)
  private var pending: [Pending] = []
  /// The commit that the state is of, `nil` before the first read; what is older is no news.
  private var commit: UInt64?

  /// May be asked with `lock` held, or not.
  var dependencies: ObservedRegion { ObservedRegion() }

  /// Whether what has changed may matter; asked while nothing is pending, with the lock held.
  func isConcerned(by changes: CommittedChanges) -> Bool { true }

  /// Works out an update from what has changed since the state, and keeps it; with the lock held,
  /// while somebody waits.
  ///
  /// - Returns: true for an update, false where nothing that is delivered has changed, `nil` where
  ///   it takes longer.
  func update(by changes: CommittedChanges) -> Bool? { nil }

  /// Called when something is pending that was not, and when nothing is told any more; the lock may
  /// be held.
  ///
  /// For observers of several stores, in which no task waits.
  func notice() {}

  /// Whether something has changed that the state does not have.
  final var hasNews: Bool {
    lock.lock()
    defer { lock.unlock() }
    return !pending.isEmpty
  }

  /// Whether nothing is told any more.
  final var isOver: Bool { waiting.withLock { $0.isOver } }

  /// Called by the job of the center.
  final func learn(_ changes: CommittedChanges) {
    lock.lock()
    let number = changes.commit
    guard number > commit ?? 0, dependencies.isTouched(by: changes.delta) else {
      return serve(nil, changes.core)
    }
    // The state may be of a commit in the midst of what has changed.
    let isWhole = commit.map { changes.from >= $0 } ?? false
    if !pending.isEmpty || !isWhole || isConcerned(by: changes) {
      note(changes.from, number, changes.delta)
    }
    serve(isWhole && pending.count == 1 ? changes : nil, changes.core)
  }

  /// Works out what is pending, if somebody waits for it; called by the job of the center when all
  /// is told that `core` sees.
  final func serve(_ core: TransactionCore) {
    lock.lock()
    serve(nil, core)
  }

  /// Gives the lock back.
  ///
  /// - Parameter changes: all that is pending; `nil` where it has to be put together.
  private func serve(_ changes: CommittedChanges?, _ core: TransactionCore) {
    let isWaitedFor = waiting.withLock { $0.task != nil }
    guard isWaitedFor, let first = pending.first else { return lock.unlock() }
    var signal = Signal.changed
    if let commit, first.from >= commit,
      let isUpdate = update(by: changes ?? CommittedChanges(merged, from: commit, core))
    {
      self.commit = core.commitNumber.rawValue
      pending = []
      guard isUpdate else { return lock.unlock() }
      signal = .updated
    }
    // Nobody, where it was cancelled meanwhile.
    let continuation = takeWaiting()
    lock.unlock()
    continuation?.resume(returning: signal)
  }

  /// Takes the task that waits, for the caller to wake it.
  private func takeWaiting(leaving next: Waiting = .nobody) -> UnsafeContinuation<Signal, Never>? {
    waiting.withLock { waiting in
      defer { if !waiting.isOver { waiting = next } }
      return waiting.task
    }
  }

  private var merged: ChangeDelta {
    var merged = pending.first?.delta ?? ChangeDelta()
    for entry in pending.dropFirst() { merged.merge(entry.delta) }
    return merged
  }

  private func note(
    _ from: UInt64, _ number: UInt64, _ delta: ChangeDelta, at moment: Double = -.infinity
  ) {
    // One that nobody asks is not to grow.
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

  /// Has whoever waits look for itself, at commit `newest` or a later one.
  ///
  /// - Parameter moment: when a record has expired: a read that began earlier is no answer.
  final func wake(_ newest: UInt64, at moment: Double = -.infinity) {
    lock.lock()
    note(0, newest, .unknown, at: moment)
    let continuation = takeWaiting()
    lock.unlock()
    continuation?.resume(returning: .changed)
  }

  /// The state is now that of a read.
  final func start(at core: TransactionCore) {
    start(at: core.commitNumber.rawValue, core.moment ?? .infinity)
  }

  /// The state is now that of `commit`, by a read that began at `moment`.
  final func start(at commit: UInt64, _ moment: Double = .infinity) {
    lock.lock()
    self.commit = commit
    pending.removeAll { $0.commit <= commit && $0.moment <= moment }
    // What has changed before the state and what after it cannot be told apart.
    for index in pending.indices where pending[index].from < commit {
      pending[index].delta = .unknown
    }
    lock.unlock()
  }

  /// Waits for something new; at once, where something is pending.
  ///
  /// - Parameter request: has ``serve(_:)`` called.
  final func wait(_ request: @Sendable () -> Void) async -> Signal {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let isOver = waiting.withLock { waiting in
          if !waiting.isOver { waiting = .task(continuation) }
          return waiting.isOver
        }
        if isOver { return continuation.resume(returning: .ended) }
        // What is noted from here on finds that somebody waits.
        if hasNews { request() }
      }
    } onCancel: {
      end()
    }
  }

  /// Nothing is told any more: the store is closed, or the task that waits is cancelled.
  final func end() {
    takeWaiting(leaving: .over)?.resume(returning: .ended)
    notice()
  }
}

/// An observer that is registered for as long as this lives.
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
