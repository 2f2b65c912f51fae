/// The place of the one writer of an environment within this process.
///
/// LMDB has a lock of its own between processes, which the same thread can wait for twice and
/// then waits for ever. Whoever comes for it passes here first and is told.
///
/// Mutable state: `owner`, the thread that has the place, guarded by the monitor's lock.
final class WriterPlace: Sendable {
  private struct State {
    var owner: ThreadIdentity?
  }

  private let state = Monitor(State())

  /// Waits for the place.
  func take(_ operation: StaticString) throws(LMDBError) {
    let thread = ThreadIdentity.current()
    try state.withLock { (state) throws(LMDBError) in
      if state.owner == thread { throw LMDBError(.nestedWrite, operation: operation) }
      while state.owner != nil { self.state.wait() }
      state.owner = thread
    }
  }

  func giveUp() {
    state.withLock { state in
      state.owner = nil
      self.state.wakeAll()
    }
  }

  var isHeldByThisThread: Bool {
    let thread = ThreadIdentity.current()
    return state.withLock { $0.owner == thread }
  }
}
