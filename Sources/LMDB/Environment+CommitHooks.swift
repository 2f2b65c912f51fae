import LodestoreSystem

/// Actions that a write requests for the time after its commit is durable.
///
/// Only the thread of the running write may access ``WriteSide/commitHooks``.
extension Environment {
  /// Calls the hooks of a committed transaction's writes in their order, before the next writer
  /// begins.
  func runCommitHooks(memberCount: Int, commit: UInt64) {
    let first = writeSide.writeCount + 1
    writeSide.writeCount += UInt64(memberCount)
    // Most writes register no hook.
    if !writeSide.commitHooks.isEmpty {
      let hooks = writeSide.commitHooks
      writeSide.commitHooks.removeAll()
      for hook in hooks { hook.body(first + UInt64(hook.member), commit) }
    }
    guard hasCommitListeners.load(ordering: .acquiring) else { return }
    for listener in commitListeners.withLock({ Array($0.values) }) { listener(commit) }
  }

  /// Registers `body` to be called with the number of each commit of this process, after the
  /// commit's hooks.
  ///
  /// Pass the result to ``removeCommitListener(_:)``.
  package func addCommitListener(_ body: @escaping @Sendable (UInt64) -> Void) -> Int {
    commitListeners.withLock { listeners in
      let key = (listeners.keys.max() ?? 0) + 1
      listeners[key] = body
      hasCommitListeners.store(true, ordering: .releasing)
      return key
    }
  }

  package func removeCommitListener(_ key: Int) {
    // The closure is released without the lock, because its release may run any code.
    _ = commitListeners.withLock { listeners in
      let removed = listeners.removeValue(forKey: key)
      hasCommitListeners.store(!listeners.isEmpty, ordering: .releasing)
      return removed
    }
  }

  /// Whether the hooks of `commit` are still running, while reads can already see the commit.
  package func isCommitting(_ commit: UInt64) -> Bool {
    committing.load(ordering: .acquiring) == commit
  }

  /// Waits until the hooks of `commit` have run, if it is a commit of this process.
  package func waitForHooks(of commit: UInt64) {
    while isCommitting(commit) { sched_yield() }
  }

  /// Whether a write of this process is running.
  package var hasWriter: Bool { writerThread.load(ordering: .sequentiallyConsistent) != 0 }

  /// The number of the newest commit of any process; `nil` without a map, for example after the
  /// environment has closed.
  ///
  /// Any thread may call it. The call waits while the map is being moved.
  package var newestCommit: UInt64? {
    guard holdsMap() else { return nil }
    defer { leaveReaders(nil) }
    return newestTransaction
  }

  /// An object shared by all users of this environment.
  ///
  /// The first caller creates it.
  package func companion<C: AnyObject & Sendable>(_ make: () -> C) -> C {
    sharedCompanion.withLock { companion in
      if let known = companion as? C { return known }
      let made = make()
      companion = made
      return made
    }
  }
}

extension WritingTransaction {
  /// Registers `body` to be called when this write is committed, with the write's number in this
  /// process and the commit's number.
  ///
  /// The call is made on the writer's thread, after the commit is durable and before another writer
  /// begins. If a write is repeated or undone, that run does not call `body`. The writes of one
  /// group share a commit and have different numbers.
  package func afterCommit(_ body: @escaping (_ write: UInt64, _ commit: UInt64) -> Void) {
    environment.writeSide.commitHooks.append((environment.writeSide.runningMember, body))
  }
}

/// The last part of a write, which runs before its commit, whichever code has changed the trees.
package protocol CommitPreparation: AnyObject {
  /// Makes the last changes of the write.
  ///
  /// Called once for all writes of a group. An error aborts the transaction, and all writes of the
  /// group fail.
  func prepare(_ transaction: WritingTransaction) throws
}

extension WritingTransaction {
  /// The preparation of the running write's commit, which the first call creates.
  ///
  /// A repeated run of a write begins without a preparation.
  package func commitPreparation<P: CommitPreparation>(_ make: () -> P) -> P {
    if let known = environment.writeSide.commitPreparation as? P { return known }
    let made = make()
    environment.writeSide.commitPreparation = made
    return made
  }
}

extension Environment {
  /// Runs the preparation of the running write, on its thread, before the write ends.
  func prepareCommit(_ transaction: WritingTransaction) throws {
    guard let preparation = writeSide.commitPreparation else { return }
    writeSide.commitPreparation = nil
    guard writeSide.firstFailure == nil, !writeSide.mustRestart else { return }
    try preparation.prepare(transaction)
  }
}
