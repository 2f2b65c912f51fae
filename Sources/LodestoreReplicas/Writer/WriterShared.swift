internal import Synchronization

/// The state of a writer that callers on any thread read and change.
final class WriterShared: Sendable {
  struct Waiter {
    /// The number of a write in the store's history; `nil` for all commits before the call.
    var write: UInt64?
    /// The round that must end, for waiters without a number.
    var round: UInt64
    var continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var status = ReplicaWriterStatus()
    var waiters: [UInt64: Waiter] = [:]
    var cancelled: Set<UInt64> = []
    var lastWaiter: UInt64 = 0
    /// The number of reads of the store that have begun.
    var round: UInt64 = 0
    /// The time of the first commit after the last read of the store.
    var unsentSince: ReplicaClock.Instant?
    /// The time of the first commit that is being sent.
    var sendingSince: ReplicaClock.Instant?
    var shipped: UInt64 = 0
    var lastReport: ReplicaClock.Instant?
    var wantsBase = false
    var isStopping = false
    var numbers = WriteNumbers(local: 0, log: 0)
    var lock: WriterLock?

    /// Removes waiters; returns their continuations in the order of the calls.
    mutating func removeWaiters(
      where isDone: (Waiter) -> Bool
    ) -> [CheckedContinuation<Void, any Error>] {
      let done = waiters.filter { isDone($0.value) }.sorted { $0.key < $1.key }
      for (id, _) in done { waiters[id] = nil }
      return done.map(\.value.continuation)
    }
  }

  private let state = Mutex(State())
  private let knock: AsyncStream<Void>.Continuation
  let knocks: AsyncStream<Void>
  private let onStatus: (@Sendable (ReplicaWriterStatus) -> Void)?
  private let clock: ReplicaClock
  private let complete: @Sendable (inout ReplicaWriterStatus, WriteNumbers) -> Void

  /// - Parameter complete: Adds the facts that only the store and the storage know.
  init(
    _ onStatus: (@Sendable (ReplicaWriterStatus) -> Void)?, _ clock: ReplicaClock,
    _ complete: @escaping @Sendable (inout ReplicaWriterStatus, WriteNumbers) -> Void
  ) {
    (knocks, knock) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.onStatus = onStatus
    self.clock = clock
    self.complete = complete
  }

  // MARK: Signals

  /// Tells the loop that there is a new commit.
  func noteCommit() {
    noteUnsent()
    knock.yield()
  }

  /// Begins the lag, unless an earlier commit has begun it.
  func noteUnsent() {
    state.withLock { $0.unsentSince = $0.unsentSince ?? clock.instant() }
  }

  /// Wakes the loop.
  func wake() { knock.yield() }

  var isStopping: Bool {
    get { state.withLock { $0.isStopping } }
    set { state.withLock { $0.isStopping = newValue } }
  }

  /// The numbers of writes in the store and in the log.
  var numbers: WriteNumbers {
    get { state.withLock { $0.numbers } }
    set { state.withLock { $0.numbers = newValue } }
  }

  /// Holds the lock of the store's file until the writer ends.
  func hold(_ lock: WriterLock) { state.withLock { $0.lock = lock } }

  /// Notes that nobody has the writer any more, and its tasks were cancelled.
  func noteDropped() { state.withLock { $0.lock }?.noteEnd() }

  /// Whether a base was asked for since the last call.
  func takeBaseWish() -> Bool {
    state.withLock { state in
      defer { state.wantsBase = false }
      return state.wantsBase
    }
  }

  func wishBase() { state.withLock { $0.wantsBase = true } }

  // MARK: Waiters

  /// Waits until a write is sent, or all commits before the call.
  func wait(for write: UInt64?) async throws {
    try Task.checkCancellation()
    let id = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let early: Result<Void, any Error>? = state.withLock { state in
          if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
          if let end = state.status.end { return .failure(end) }
          if let write, write <= state.shipped { return .success(()) }
          state.waiters[id] = Waiter(
            write: write, round: state.round + 1, continuation: continuation)
          return nil
        }
        if let early { continuation.resume(with: early) } else { knock.yield() }
      }
    } onCancel: {
      let waiter = state.withLock { state in
        let waiter = state.waiters.removeValue(forKey: id)
        if waiter == nil { state.cancelled.insert(id) }
        return waiter
      }
      waiter?.continuation.resume(throwing: CancellationError())
    }
    state.withLock { _ = $0.cancelled.remove(id) }
  }

  var hasWaiters: Bool { state.withLock { !$0.waiters.isEmpty } }

  /// Begins a read of the store; returns its round and the time.
  func beginRound() -> UInt64 {
    state.withLock { state in
      state.round += 1
      state.sendingSince = state.unsentSince
      state.unsentSince = nil
      return state.round
    }
  }

  /// Resumes the waiters of a round whose commits are sent, up to a write of the store's history.
  func endRound(_ round: UInt64, shipped: UInt64) {
    let done = state.withLock { state in
      state.shipped = max(state.shipped, shipped)
      state.sendingSince = nil
      return state.removeWaiters { waiter in
        waiter.write.map { $0 <= shipped } ?? (waiter.round <= round)
      }
    }
    for continuation in done { continuation.resume() }
  }

  /// Puts the time of the first unsent commit back after a round that has failed.
  func reopenRound(since: ReplicaClock.Instant) {
    state.withLock { state in
      state.unsentSince = [state.unsentSince, state.sendingSince].compactMap(\.self).min() ?? since
      state.sendingSince = nil
    }
  }

  /// Ends the writer and all waiters.
  func end(_ error: ReplicaError) {
    let waiters = state.withLock { state in
      if state.status.end == nil { state.status.end = error }
      state.lock = nil
      return state.removeWaiters { _ in true }
    }
    knock.finish()
    for continuation in waiters { continuation.resume(throwing: error) }
    report(always: true)
  }

  // MARK: Status

  var status: ReplicaWriterStatus {
    var (status, numbers) = state.withLock { state in
      var status = state.status
      status.lag = (state.sendingSince ?? state.unsentSince).map(clock.elapsed) ?? .zero
      return (status, state.numbers)
    }
    complete(&status, numbers)
    // The last commit of a writer is its own record of the place.
    if status.end != nil, status.lagInWrites == 0 { status.lag = .zero }
    return status
  }

  func change(_ body: (inout ReplicaWriterStatus) -> Void) {
    let isTurn = state.withLock { state in
      let wasFailing = state.status.lastFailure != nil
      body(&state.status)
      return wasFailing != (state.status.lastFailure != nil)
    }
    // The first failure and the success after it are reported at once.
    report(always: isTurn)
  }

  private func report(always: Bool = false) {
    guard let onStatus else { return }
    let isDue = state.withLock { state in
      if !always, let last = state.lastReport, clock.elapsed(since: last) < .milliseconds(100) {
        return false
      }
      state.lastReport = clock.instant()
      return true
    }
    if isDue { onStatus(status) }
  }
}
