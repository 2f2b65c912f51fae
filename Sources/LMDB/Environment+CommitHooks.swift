import LodestoreSystem

/// What a write asks to be done once the disk has it.
///
/// The state is the writer's, as that of the running write; see ``Environment/commitHooks``.
extension Environment {
  /// Calls what the writes of a committed transaction have asked for, in their order, before the
  /// next writer begins.
  func runCommitHooks(memberCount: Int, commit: UInt64) {
    let first = writeCount + 1
    writeCount += UInt64(memberCount)
    // Mostly there are none.
    if !commitHooks.isEmpty {
      let hooks = commitHooks
      commitHooks.removeAll()
      for hook in hooks { hook.body(first + UInt64(hook.member), commit) }
    }
    guard hasCommitListeners.load(ordering: .acquiring) else { return }
    for listener in commitListeners.withLock({ Array($0.values) }) { listener(commit) }
  }

  /// Has `body` called with the number of each commit of this process, behind its hooks; returns what
  /// ``removeCommitListener(_:)`` takes.
  package func addCommitListener(_ body: @escaping @Sendable (UInt64) -> Void) -> Int {
    commitListeners.withLock { listeners in
      let key = (listeners.keys.max() ?? 0) + 1
      listeners[key] = body
      hasCommitListeners.store(true, ordering: .releasing)
      return key
    }
  }

  package func removeCommitListener(_ key: Int) {
    // Let go of without the lock, as it may hold anything.
    _ = commitListeners.withLock { listeners in
      let removed = listeners.removeValue(forKey: key)
      hasCommitListeners.store(!listeners.isEmpty, ordering: .releasing)
      return removed
    }
  }

  /// Whether the hooks of `commit`, which a read sees, are still to run or running.
  package func isCommitting(_ commit: UInt64) -> Bool {
    committing.load(ordering: .acquiring) == commit
  }

  /// Returns when the hooks of `commit` have run, if it is one of this process.
  package func waitForHooks(of commit: UInt64) {
    while isCommitting(commit) { sched_yield() }
  }

  /// Whether a write of this process runs.
  package var hasWriter: Bool { writerThread.load(ordering: .sequentiallyConsistent) != 0 }

  /// The number of the newest commit of any process; `nil` where there is no map to read it from, as after
  /// the end of the environment.
  ///
  /// Any thread. Waits while the map is being moved.
  package var newestCommit: UInt64? {
    guard holdsMap() else { return nil }
    defer { leaveReaders(nil) }
    return newestTransaction
  }

  /// An object that all users of this environment share, made by the first that asks.
  package func companion<C: AnyObject & Sendable>(_ make: () -> C) -> C {
    sharedCompanion.withLock { companion in
      if let known = companion as? C { return known }
      let made = make()
      companion = made
      return made
    }
  }
}

extension Transaction {
  /// Has `body` called when this write is committed, with its number in the order of writes and the
  /// number of the commit.
  ///
  /// On the writer's thread, after the disk has the commit and before another writer begins. A run
  /// that is repeated or undone calls nothing. Writes of one group have one commit and a number each.
  package func afterCommit(
    _ body: @escaping (_ write: UInt64, _ commit: UInt64) -> Void
  ) {
    environment.commitHooks.append((environment.runningMember, body))
  }
}

/// The part of a write that runs last, before its commit, whichever code has changed the trees.
package protocol CommitPreparation: AnyObject {
  /// Makes the last changes of the write.
  ///
  /// Called once for all writes of a group. An error undoes the transaction, and all writes of the group fail.
  func prepare(_ transaction: Transaction) throws
}

extension Transaction {
  /// The preparation of the running write for its commit, made by the first call.
  ///
  /// A write that runs again begins without one.
  package func commitPreparation<P: CommitPreparation>(_ make: () -> P) -> P {
    if let known = environment.commitPreparation as? P { return known }
    let made = make()
    environment.commitPreparation = made
    return made
  }
}

extension Environment {
  /// Runs the preparation of the running write; on its thread, before it ends.
  func prepareCommit(_ transaction: Transaction) throws {
    guard let preparation = commitPreparation else { return }
    commitPreparation = nil
    guard firstFailure == nil, !mustRestart else { return }
    try preparation.prepare(transaction)
  }
}
