internal import EntityStore
internal import LodestoreFormat

/// The comparison of entries that a store's mark does not have yet with the store's history.
extension WriterOpening {
  /// The evidence that a store has written an entry.
  enum Evidence: Sendable, Hashable {
    /// The history has the writes of the entry, and so all writes before them.
    case writes
    /// The entry has no writes that the mark lacks, and is of a session of this store.
    case session
    /// The entry is of a session of this store, and its writes were purged from the history.
    case purged
    /// The store has not written the entry.
    case none
  }

  /// Compares an entry with the store: its session, and numbers, times, authors and contexts of the
  /// writes in the history.
  ///
  /// Another session is another file's, because a store records its session before its first entry.
  /// A copy of the file has the same sessions, so a session alone proves no write.
  func evidence(
    of entry: LogEntry, _ numbers: WriteNumbers, _ mark: ReplicaMark?
  ) async throws -> Evidence {
    let head = entry.head
    guard isOwnSession(head.session, mark) else { return .none }
    if head.kind == .base {
      if head.lastWrite <= mark?.lastWrite ?? 0 { return .session }
      // The time of a base is that of its last write.
      return try await store.read { snapshot in
        switch try Self.write(numbers.inStore(head.lastWrite), snapshot) {
        case .purged: return .purged
        case .found(let write):
          return write?.time.timeIntervalSinceReferenceDate == head.time ? .writes : .none
        }
      }
    }
    let steps = try Self.reading { () throws(PackError) in
      head.kind == .pack ? try entry.steps() : []
    }
    // Entries without a whole write have nothing to compare but the session.
    if steps.allSatisfy(\.continues) { return .session }
    return try await store.read { snapshot in
      var evidence = Evidence.writes
      for step in steps where !step.continues {
        switch try Self.write(numbers.inStore(step.writes.upperBound), snapshot) {
        case .purged: evidence = .purged
        case .found(let write):
          guard let write, write.time.timeIntervalSinceReferenceDate == step.time,
            write.author == step.author, write.contextName == step.context
          else { return .none }
          evidence = .writes
        }
      }
      return evidence
    }
  }

  /// A write that was looked up in the history.
  private enum FoundWrite {
    /// The write, or `nil` if the history has no write of the number.
    case found(HistoryWrite?)
    case purged
  }

  private static func write(
    _ number: UInt64, _ snapshot: borrowing Snapshot
  ) throws -> FoundWrite {
    var found: HistoryWrite?
    do {
      let token = try snapshot.historyToken(number: number)
      try snapshot.forEachWrite(.write(token).withoutChanges()) { write, stop in
        found = write
        stop = true
      }
    } catch let error as StoreError {
      if error.code == .expiredHistory { return .purged }
      guard error.code == .invalidQuery else { throw error }
    }
    return .found(found)
  }

  func isOwnSession(_ session: UUIDBytes, _ mark: ReplicaMark?) -> Bool {
    mark?.sessions.contains(session) ?? false
  }

  /// Entries after the store's mark that the store has written.
  struct AdoptedEntries {
    private(set) var last: LogEntry?
    /// The last entry whose writes were purged.
    ///
    /// Later writes in the history prove the earlier ones, too.
    private(set) var unproven: LogEntry?

    mutating func note(_ entry: LogEntry, _ evidence: Evidence) {
      switch evidence {
      case .writes: unproven = nil
      case .purged: unproven = entry
      case .session: break
      case .none: return
      }
      last = entry
    }
  }

  /// Throws if the content after the adopted entries is another store's.
  func requireStore(
    of adopted: AdoptedEntries, at position: ChainPosition, _ facts: ReplayFacts,
    lastWrite: UInt64, _ mark: ReplicaMark?
  ) throws {
    if let unproven = adopted.unproven {
      try requireState(after: unproven, at: position, facts, lastWrite: lastWrite, mark)
    } else if let last = adopted.last {
      try requireContent(after: last, at: position, facts, lastWrite: lastWrite)
    }
  }

  /// Throws if the store ends with the last write of an entry, and has other content.
  ///
  /// Two copies of a file can commit different writes of one number at one time of the clock.
  private func requireContent(
    after entry: LogEntry, at position: ChainPosition, _ facts: ReplayFacts, lastWrite: UInt64
  ) throws {
    let head = entry.head
    guard head.lastWrite == lastWrite, position.lastWrite == lastWrite, !head.digests.isEmpty,
      facts.digests.contentDigests != head.digests
    else { return }
    throw ReplicaError.diverged(
      store.path, client.place,
      writes: Self.range(head.firstWrite ?? lastWrite, lastWrite), slot: position.slot)
  }

  /// Throws unless the store has the state after an entry whose writes the history has no more.
  ///
  /// A copy of the file has the same sessions as the store, so a session alone proves nothing.
  /// Equal digests after an equal number of writes do.
  private func requireState(
    after entry: LogEntry, at position: ChainPosition, _ facts: ReplayFacts, lastWrite: UInt64,
    _ mark: ReplicaMark?
  ) throws {
    let head = entry.head
    guard
      head.lastWrite != lastWrite || position.lastWrite != lastWrite
        || facts.digests.contentDigests != head.digests
    else { return }
    throw ReplicaError(
      .diverged,
      "cannot replicate '\(store.path)' to '\(client.place)': the replica has writes "
        + "\((mark?.lastWrite ?? 0) + 1) to \(position.lastWrite), which are purged from the "
        + "store's history, so they cannot be compared; restore the replica under a new path, "
        + "compare both stores, and take over", slot: position.slot)
  }
}
