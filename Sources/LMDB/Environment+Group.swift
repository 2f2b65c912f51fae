import CLMDB
import LodestoreSystem

/// Group commit: asynchronous writes that wait while another is committed share the next commit.
///
/// The price of a small write is its sync, and one sync is enough for many. Each member runs in
/// turn in one transaction, and its caller goes on when that is committed.
///
/// No nested transactions, in which LMDB could undo a single member: one that fails ends the
/// transaction instead, those before it run again and are committed without it, and it runs again
/// as the first of the next, so that its error is one of a durable state. So every member ends as
/// if it had been alone.
extension Environment {
  /// How many writes may share a commit.
  private static let largestGroup = 512

  /// Runs `body` on the writer's thread in a write transaction, and returns when it is committed.
  ///
  /// In the order of calls. Writes that wait may share a transaction, each seeing what those before
  /// it did; whatever `body` throws undoes `body` alone. It may run several times, as for
  /// ``write(_:)``; also when another one of its group throws.
  ///
  /// An error of the commit is thrown to each caller of the group.
  ///
  /// - Throws: `CancellationError` when the task is cancelled before `body` has its turn; later it
  ///   is committed all the same, unless `body` throws because of ``writeCancellation``.
  package func writeTogether<R: Sendable>(
    _ body: @escaping @Sendable (Transaction) throws -> R
  ) async throws -> R {
    try checkWritable()
    let write = QueuedWrite(self, body)
    return try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { write.enqueue($0) }
    } onCancel: {
      write.cancel()
    }
  }

  /// Says whether the task that has asked for the running write was cancelled; `nil` where none
  /// waits for it.
  ///
  /// To be asked for within the write, and used only as long as that runs.
  package var writeCancellation: (@Sendable () -> Bool)? {
    guard let asker else { return nil }
    return { asker.isCancelled }
  }

  /// Commits `first` and those that wait behind it; on the writer's thread.
  func commitTogether(_ first: any GroupMember) {
    guard first.claim() else { return }
    var waiting = [first]
    while !waiting.isEmpty {
      waiting = takeTurn(waiting)
      giveWay()
    }
  }

  /// Now and then pauses between groups, so that writers of other processes get their turn.
  ///
  /// LMDB's lock is not fair: beside tasks that write without end, a process that must first be woken up
  /// would never get it.
  private func giveWay() {
    let now = monotonicSeconds()
    guard now - lastGivenWay > 0.05 else { return }
    lastGivenWay = now
    usleep(200)
  }

  /// One transaction for `claimed`, whose callers go on; returns those that must wait for the next.
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

  /// Commits the group; throws the error of all members that are left in it.
  private func commit(_ group: inout WriteGroup) throws {
    let end = monotonicSeconds() + options.longestGroupInSeconds
    var takesTreeLock = false
    while true {
      let handle = try beginWrite(takesTreeLock: takesTreeLock)
      let transaction = Transaction(handle: handle, environment: self)
      var failure: (any Error)?
      var index = 0
      while index < group.members.count {
        runningMember = index
        do {
          try group.members[index].run(in: transaction)
        } catch {
          failure = error
        }
        if failure != nil || firstFailure != nil || mustRestart { break }
        index += 1
        guard index == group.members.count, !group.isClosed, index < Self.largestGroup,
          monotonicSeconds() < end, !closing.load(ordering: .relaxed), let next = nextMember()
        else { continue }
        // A cursor that the last member has kept is refused, as after a write of its own.
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

/// The writes of one transaction, in the order of their turns.
private struct WriteGroup {
  var members: [any GroupMember]
  /// Those that are not to be committed with the others.
  var postponed: [any GroupMember] = []
  /// Whether no others may join.
  var isClosed = false

  /// Keeps the members before `index`, where one failed, and postpones the others; at index 0 it keeps
  /// that one alone.
  mutating func cut(at index: Int) {
    let end = max(index, 1)
    postponed = members[end...] + postponed
    members.removeSubrange(end...)
    isClosed = true
  }
}
