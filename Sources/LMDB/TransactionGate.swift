/// Counts the transactions of one environment, keeps ended read transactions for reuse, and lets
/// one caller at a time have the map to itself.
///
/// The engine moves the map without asking whether anybody reads from it, and frees the
/// environment without asking whether transactions are left. Both wait here for the count to be
/// zero. Everything is in one monitor, because beginning a read needs the count, the barrier and
/// the pool together and should pay for one lock only.
///
/// Mutable state, all of it in `state` and guarded by its lock:
/// - `idle`: read transactions that were reset, each still holding its reader slot; owned by the
///   gate while they are in the list.
/// - `userCount`: transactions between ``enter(_:)`` and ``leave(keeping:)``, read and write.
/// - `isExclusive`: somebody has, or waits to have, the map to itself; new users wait.
/// - `isClosed`, `isFinished`: the last user closed; the engine's environment is being freed.
/// - `breakdown`: the map was lost and no transaction can begin again.
final class TransactionGate: Sendable {
  private struct State {
    var idle: [OpaquePointer] = []
    var userCount = 0
    var isExclusive = false
    var isClosed = false
    var isFinished = false
    var breakdown: LMDBError?

    /// One flag for the path that every read takes.
    var isBarred: Bool { isExclusive || isClosed || breakdown != nil }
  }

  private let state = Monitor(State())
  private let idleLimit: Int

  init(readerSlotCount: Int) {
    // Idle transactions hold slots that other processes may need.
    idleLimit = min(64, max(1, readerSlotCount / 8))
  }

  /// Counts a transaction in and hands out one to renew, if there is one.
  ///
  /// The caller owns what it gets until ``leave(keeping:)``.
  func enter(_ operation: StaticString) throws(LMDBError) -> OpaquePointer? {
    try state.withLock { (state) throws(LMDBError) -> OpaquePointer? in
      try admit(&state, operation)
      return state.idle.popLast()
    }
  }

  /// Counts a transaction in that has no use for an idle one.
  func enterWithoutTransaction(_ operation: StaticString) throws(LMDBError) {
    try state.withLock { (state) throws(LMDBError) in
      try admit(&state, operation)
    }
  }

  /// Waits until no one has the map to itself, and counts.
  @inline(__always)
  private func admit(_ state: inout State, _ operation: StaticString) throws(LMDBError) {
    if state.isBarred {
      while state.isExclusive && !state.isClosed { self.state.wait() }
      if state.isClosed { throw LMDBError(.closed, operation: operation) }
      if let breakdown = state.breakdown { throw breakdown }
    }
    state.userCount += 1
  }

  /// How leaving went.
  enum Departure {
    case left
    /// The environment was closed and this was its last transaction: the caller has to free it.
    /// At most one caller is ever told so.
    case leftLast
    /// Still counted, because the pool is full: abort the transaction and leave without it. An
    /// abort touches the environment, so it has to happen while counted.
    case refused
  }

  /// Counts a transaction out, and takes it into the pool if it is one that was reset.
  func leave(keeping transaction: OpaquePointer? = nil) -> Departure {
    state.withLock { state in
      if let transaction {
        if state.idle.count >= idleLimit { return .refused }
        state.idle.append(transaction)
      }
      state.userCount -= 1
      if state.isBarred { self.state.wakeAll() }
      return claimFinishing(&state) ? .leftLast : .left
    }
  }

  private func claimFinishing(_ state: inout State) -> Bool {
    guard state.isClosed, state.userCount == 0, !state.isExclusive, !state.isFinished else {
      return false
    }
    state.isFinished = true
    return true
  }

  /// Runs `body` while no transaction of this process is open and none can begin.
  ///
  /// The caller must not be counted in itself.
  ///
  /// - Returns: Whether the caller has to free the environment, which was closed meanwhile.
  /// - Throws: `mapHeldByTransactions` if the open ones did not end within `wait`.
  func withoutTransactions(
    waiting wait: Duration, mapSizeInBytes: Int, operation: StaticString,
    _ body: () throws(LMDBError) -> Void
  ) throws(LMDBError) -> Bool {
    let deadline = ContinuousClock.now + wait
    try state.withLock { (state) throws(LMDBError) in
      while state.isExclusive && !state.isClosed { self.state.wait() }
      if state.isClosed { throw LMDBError(.closed, operation: operation) }
      state.isExclusive = true
      while state.userCount > 0 {
        if ContinuousClock.now >= deadline {
          state.isExclusive = false
          self.state.wakeAll()
          throw LMDBError(
            .mapHeldByTransactions(count: state.userCount, mapSizeInBytes: mapSizeInBytes),
            operation: operation)
        }
        self.state.waitBriefly()
      }
    }
    let outcome = Result { () throws(LMDBError) in try body() }
    let mustFinish = state.withLock { state in
      state.isExclusive = false
      self.state.wakeAll()
      return claimFinishing(&state)
    }
    try outcome.get()
    return mustFinish
  }

  /// Refuses every later transaction with `error`.
  func breakDown(_ error: LMDBError) {
    state.withLock { $0.breakdown = error }
  }

  /// Refuses new transactions. Returns whether the caller has to free the environment.
  func close() -> Bool {
    state.withLock { state in
      state.isClosed = true
      self.state.wakeAll()
      return claimFinishing(&state)
    }
  }

  /// Undoes ``close()`` if the environment has not been given up yet. Returns whether it did.
  func reopen() -> Bool {
    state.withLock { state in
      guard !state.isFinished else { return false }
      state.isClosed = false
      return true
    }
  }

  /// Hands out the idle transactions for good.
  func drainIdle() -> [OpaquePointer] {
    state.withLock { state in
      defer { state.idle = [] }
      return state.idle
    }
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }
  var openTransactionCount: Int { state.withLock { $0.userCount } }
}
