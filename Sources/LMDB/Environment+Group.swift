import CLMDB
import LodestoreSystem

/// Group commit: asynchronous writes that wait during a commit share the next commit.
///
/// A small write spends most of its time in the sync, and one sync can serve many writes. The
/// members run one after the other in one transaction, and their callers resume after its commit.
///
/// LMDB could undo a single member only through nested transactions, which are not used. If a
/// member fails, the transaction is aborted. The members before it run again and are committed
/// without it. The failed member then runs again as the first of the next group, so that its error
/// is about a durable state. Every member therefore ends as if it had run alone.
extension Environment {
  /// The maximum number of writes in one commit.
  private static let largestGroup = 512

  /// Runs `body` on the writer's thread in a write transaction and returns after its commit.
  ///
  /// Writes run in the order of the calls. Waiting writes may share one transaction; each sees the
  /// changes of the earlier ones. If `body` throws, only its own changes are undone. `body` may run
  /// several times, as in ``write(_:)``, and also when another member of its group throws.
  ///
  /// An error of the commit is thrown to each caller of the group.
  ///
  /// - Throws: `CancellationError` if the task is cancelled before `body` begins. After that the
  ///   write is committed, unless `body` throws because of ``writeCancellation``.
  package func writeTogether<R: Sendable>(
    _ body: @escaping @Sendable (WritingTransaction) throws -> R
  ) async throws -> R {
    try checkWritable()
    let write = QueuedWrite(self, body)
    return try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { write.enqueue($0) }
    } onCancel: {
      write.cancel()
    }
  }

  /// A closure that returns whether the task that requested the running write was cancelled; `nil`
  /// if no task waits for it.
  ///
  /// Ask for it within the write, and use it only while the write runs.
  package var writeCancellation: (@Sendable () -> Bool)? {
    guard let runningWrite = writeSide.runningWrite else { return nil }
    return { runningWrite.isCancelled }
  }

  /// Commits `first` and the writes that wait after it, on the writer's thread.
  func commitTogether(_ first: any GroupMember) {
    guard first.claim() else { return }
    var waiting = [first]
    while !waiting.isEmpty {
      waiting = takeTurn(waiting)
      yieldToOtherProcesses()
    }
  }

  /// Pauses between groups at intervals, so that writers of other processes get a turn.
  ///
  /// LMDB's lock is not fair. While this process writes without a pause, a process that must first
  /// be woken would never get the lock.
  private func yieldToOtherProcesses() {
    let now = monotonicSeconds()
    guard now - lastYieldToProcesses > 0.05 else { return }
    lastYieldToProcesses = now
    usleep(200)
  }

  /// Runs one transaction for `claimed` and resumes its callers.
  ///
  /// Returns the members that must wait for the next transaction.
  private func takeTurn(_ claimed: [any GroupMember]) -> [any GroupMember] {
    var group = WriteGroup(members: claimed)
    var failure: (any Error)?
    writerLock.lock()
    writerThread.store(currentThread(), ordering: .relaxed)
    do {
      try commit(&group)
    } catch {
      failure = error
    }
    leaveWriter()
    for member in group.members { member.finish(failure) }
    return group.postponed
  }

  /// Commits the group.
  ///
  /// An error applies to all members left in the group.
  private func commit(_ group: inout WriteGroup) throws {
    let end = monotonicSeconds() + options.longestGroupInSeconds
    var takesTreeLock = false
    while true {
      let handle = try beginWrite(takesTreeLock: takesTreeLock)
      let transaction = WritingTransaction(handle: handle, environment: self)
      var failure: (any Error)?
      var index = 0
      while index < group.members.count {
        writeSide.runningMember = index
        do {
          try group.members[index].run(in: transaction)
        } catch {
          failure = error
        }
        if failure != nil || writeSide.firstFailure != nil || writeSide.mustRestart { break }
        index += 1
        guard index == group.members.count, !group.isClosed, index < Self.largestGroup,
          monotonicSeconds() < end, !closing.load(ordering: .relaxed), let next = nextMember()
        else { continue }
        // A cursor of the previous member must throw when it is used, as after a write that is not
        // in a group.
        endedWriteCount.add(1, ordering: .relaxed)
        group.members.append(next)
      }
      if failure == nil {
        do { try prepareCommit(transaction) } catch { failure = error }
      }
      do {
        let isOver = try endWrite(
          handle, failure, memberCount: group.members.count, takesTreeLock: &takesTreeLock)
        if isOver { return }
      } catch {
        // After a failed sync nothing may run again.
        guard index < group.members.count, !poison.load(ordering: .relaxed) else { throw error }
        group.cut(at: index)
        if index == 0 { throw error }
      }
    }
  }

  private func nextMember() -> (any GroupMember)? {
    while let next = writer.takeShared() as? any GroupMember {
      if next.claim() { return next }
    }
    return nil
  }
}

/// The writes of one transaction, in the order in which they run.
private struct WriteGroup {
  var members: [any GroupMember]
  /// Members that are not part of this commit.
  var postponed: [any GroupMember] = []
  /// Whether further members are refused.
  var isClosed = false

  /// Keeps the members before `index`, and postpones the failed member at `index` and all later
  /// members.
  ///
  /// At index 0, keeps only the failed member.
  mutating func cut(at index: Int) {
    let end = max(index, 1)
    postponed = members[end...] + postponed
    members.removeSubrange(end...)
    isClosed = true
  }
}
