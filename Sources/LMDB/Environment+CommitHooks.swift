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
    if commitHooks.isEmpty { return }
    let hooks = commitHooks
    commitHooks.removeAll()
    for hook in hooks { hook.body(first + UInt64(hook.member), commit) }
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
