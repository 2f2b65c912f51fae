internal import LMDB
internal import LodestoreFormat
import Synchronization

/// One commit that stays readable across calls, tasks and threads, as long as the snapshot is
/// referenced.
///
///     let snapshot = try store.snapshot()
///     let before = try snapshot.fetch(Film.all)
///     try store.delete(Film.all)
///     try snapshot.fetch(Film.all) == before    // still there
///
/// Later writes are not visible. Writes make the file grow, since pages freed after the commit
/// cannot be reused before the snapshot ends; see ``pagesHeldBack()``.
/// ``StoreOptions/snapshotAgeLimit`` can end a snapshot.
///
/// Any thread may read; reads of one snapshot take turns. A snapshot corresponds to a query
/// generation of Core Data.
public final class PinnedSnapshot: ReadableStore {
  private struct Pin {
    let read: Environment.PinnedRead
    let core: TransactionCore
    let commitNumber: CommitNumber
    let since: ContinuousClock.Instant
  }

  private enum Content {
    case open(Pin)
    case ended
    case expired(age: Duration)
  }

  private struct State {
    var content: Content
    /// The identity of the thread that reads the snapshot now; 0 if no read is running.
    var reader: UInt = 0
    /// Pinned reads that were ended while the current read may still use them.
    ///
    /// That read releases them when it ends.
    var given: [Environment.PinnedRead] = []
  }

  private let store: StoreCore
  /// The registry that checks the snapshot's age.
  ///
  /// The snapshot retains the registry, so that checks go on after the store's object has been
  /// released.
  private let registry: SnapshotRegistry
  /// The lock by which reads of this snapshot take turns; the current read holds it while the
  /// program's closure runs.
  private let turn = ManualLock()
  /// The state, whose lock is held only briefly.
  private let state: Guarded<State>
  /// Whether a warning about this snapshot has been given.
  private let hasWarned = Atomic<Bool>(false)

  init(_ store: StoreCore, _ registry: SnapshotRegistry) throws {
    self.store = store
    self.registry = registry
    try store.checkOpen("pin a snapshot of")
    state = Guarded(State(content: .open(try Self.pin(store))))
  }

  deinit { end() }

  private static func pin(_ store: StoreCore) throws -> Pin {
    let (read, core) = try store.mapped { try store.pin() }
    return Pin(read: read, core: core, commitNumber: core.commitNumber, since: .now)
  }

  /// Runs `body` on the pin.
  ///
  /// Reads of one snapshot run one after the other. Only other reads wait until `body` returns.
  /// While `body` runs, the snapshot may be ended or moved, and the store closed.
  private func use<R>(_ body: (TransactionCore) throws -> R) throws -> R {
    try store.checkNotForked()
    let thread = currentThread()
    // A read inside a read of the same thread takes no lock: the thread already has the turn.
    if state.withLock({ $0.reader == thread }) { return try whole(body, try opened().core) }
    turn.lock()
    defer { turn.unlock() }
    let core = try opened { $0.reader = thread }.core
    defer {
      let ended = state.withLock { state in
        defer {
          state.given = []
          state.reader = 0
        }
        return state.given
      }
      for read in ended { store.environment.endRead(read) }
    }
    return try whole(body, core)
  }

  private func whole<R>(
    _ body: (TransactionCore) throws -> R, _ core: TransactionCore
  ) throws -> R {
    try store.mapped { try core.transaction.whole { try body(core) } }
  }

  /// Returns the pin, or throws if the snapshot has ended.
  ///
  /// - Parameter change: a change of the state, made under the same lock if the snapshot is open.
  private func opened(_ change: (inout State) -> Void = { _ in }) throws -> Pin {
    let content = state.withLock { state in
      if case .open = state.content { change(&state) }
      return state.content
    }
    switch content {
    case .open(let pin): return pin
    case .ended: throw StoreError(.closed, "cannot read a snapshot of \(store.label): it was ended")
    case .expired(let age):
      throw StoreError(
        .snapshotExpired,
        "cannot read a snapshot of \(store.label): it was ended after \(age), as StoreOptions' "
          + "snapshotAgeLimit says; take a new one, or move this one forward by advance()")
    }
  }

  // MARK: Reading

  /// Runs `body` on the snapshot, on the calling thread.
  ///
  /// Within `body` the snapshot can be read again.
  ///
  /// - Throws: the error that `body` throws; ``StoreError/Code/snapshotExpired`` if the snapshot
  ///   was ended because of its age; ``StoreError/Code/closed`` after ``end()``, and in a forked
  ///   child.
  public func read<R>(_ body: (borrowing Snapshot) throws -> R) throws -> R {
    try use { core in try store.mapped { try body(Snapshot(core: core)) } }
  }

  /// Runs `body` on the snapshot, on a thread of the store.
  public func read<R: Sendable>(
    _ body: @escaping @Sendable (borrowing Snapshot) throws -> R
  ) async throws -> R {
    try Task.checkCancellation()
    return try await store.onReader { try self.read(body) }
  }

  // MARK: The pin

  /// The number of the commit.
  public var commitNumber: CommitNumber { get throws { try opened().commitNumber } }

  /// The time since the snapshot was created, or was last moved to a newer commit.
  public var age: Duration {
    get throws { try opened().since.duration(to: .now) }
  }

  /// Moves the snapshot to the newest commit, and restarts its age.
  ///
  /// An expired snapshot can be moved too.
  public func advance() throws {
    let fresh = try Self.pin(store)
    let isMoved = move(to: .open(fresh))
    hasWarned.store(false, ordering: .relaxed)
    guard isMoved else {
      store.environment.endRead(fresh.read)
      throw StoreError(
        .closed, "cannot move a snapshot of \(store.label) forward: it was ended")
    }
  }

  /// Releases the commit, after which reads throw.
  ///
  /// A running read continues, and the commit is kept until the read ends.
  public func end() { move(to: .ended) }

  /// Replaces the content by `next` and releases an open pin.
  ///
  /// Returns false if the snapshot was ended before, or if its commit is not `commit`.
  @discardableResult
  private func move(to next: Content, onlyFrom commit: CommitNumber? = nil) -> Bool {
    let (isLeft, read): (Bool, Environment.PinnedRead?) = state.withLock { state in
      switch state.content {
      case .ended: return (false, nil)
      case .open(let pin) where commit != nil && pin.commitNumber != commit:
        return (false, nil)
      case .open(let pin):
        state.content = next
        if state.reader == 0 { return (true, pin.read) }
        state.given.append(pin.read)
      case .expired: state.content = next
      }
      return (true, nil)
    }
    if let read { store.environment.endRead(read) }
    return isLeft
  }

  /// Returns the number of pages in the file that cannot be reused because this snapshot, or an
  /// older reader, may read them.
  ///
  /// - Complexity: O(*f*) for *f* commits since the snapshot
  public func pagesHeldBack() throws -> Int {
    let commit = try commitNumber.rawValue
    return try store.read { try $0.transaction.freePageCount(after: commit) }
  }

  /// Returns the size in bytes of the pages that ``pagesHeldBack()`` counts.
  public func bytesHeldBack() throws -> Int {
    try pagesHeldBack() * store.environment.info.pageSize
  }

  // MARK: Age

  /// Checks the age of the snapshot at intervals.
  ///
  /// A snapshot of the `newest` commit keeps no pages from being reused.
  func checkAge(_ limits: SnapshotLimits, newest: UInt64) {
    guard let pin = try? opened(), pin.commitNumber.rawValue < newest else { return }
    let age = pin.since.duration(to: .now)
    if age > limits.warningAge, let warn = limits.warn,
      !hasWarned.exchange(true, ordering: .relaxed)
    {
      warn(
        SnapshotWarning(
          commitNumber: pin.commitNumber, age: age, bytesHeldBack: (try? bytesHeldBack()) ?? 0))
    }
    guard let limit = limits.limit, age > limit else { return }
    move(to: .expired(age: age), onlyFrom: pin.commitNumber)
  }
}

extension Store {
  /// Returns a snapshot of the newest commit, which stays readable as long as the result is
  /// referenced.
  ///
  /// - Throws: ``StoreError/Code/closed``.
  public func snapshot() throws -> PinnedSnapshot {
    let registry = companions.companion { SnapshotRegistry() }
    let snapshot = try PinnedSnapshot(core, registry)
    registry.add(snapshot, core)
    return snapshot
  }

  /// Returns the running reads of all processes that have the file open, those of the oldest commit
  /// first.
  ///
  /// The result is empty if the store was opened without its lock file.
  public func readers() throws -> [StoreReader] {
    try core.checkOpen("list readers of")
    guard let newest = core.environment.newestCommit else { return [] }
    return core.environment.readerSlots().sorted { $0.commit < $1.commit }.map {
      StoreReader(
        process: Int($0.process), commitNumber: CommitNumber($0.commit),
        commitsBehind: Int(clamping: newest &- $0.commit))
    }
  }
}

/// A running read of a store's file.
public struct StoreReader: Sendable, Hashable {
  /// The id of the process.
  public let process: Int
  /// The number of the commit that the read sees.
  public let commitNumber: CommitNumber
  /// The number of commits since the one that the read sees.
  public let commitsBehind: Int
}
