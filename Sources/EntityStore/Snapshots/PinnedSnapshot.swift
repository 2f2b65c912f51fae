internal import LMDB
internal import LodestoreFormat
import Synchronization

/// One commit, kept readable across calls, tasks and threads, for as long as it is referenced.
///
///     let snapshot = try store.snapshot()
///     let before = try snapshot.fetch(Film.all)
///     try store.delete(Film.all)
///     try snapshot.fetch(Film.all) == before    // still there
///
/// Whatever is written meanwhile does not show. The price is the file's growth: pages that were freed since cannot be
/// used again before it ends; see ``pagesHeldBack()``. ``StoreOptions/snapshotAgeLimit`` can end it.
///
/// Any thread may read; reads of one snapshot take turns. A query generation of Core Data.
public final class PinnedSnapshot: ReadableStore {
  private struct Pin {
    let read: Environment.PinnedRead
    let core: TransactionCore
    let generation: CommitNumber
    let since: ContinuousClock.Instant
  }

  private enum Content {
    case open(Pin)
    case ended
    case expired(age: Duration)
  }

  private struct State {
    var content: Content
    /// The thread of the read that has its turn; 0 for none.
    var reader: UInt = 0
    /// Ended while a read has its turn, which may be using them; that read gives them back.
    var given: [Environment.PinnedRead] = []
  }

  private let store: StoreCore
  /// Checks the age, also when the store's object is gone.
  private let registry: SnapshotRegistry
  /// Held by the read that has its turn, while the program's closure runs.
  private let turn = HeldLock()
  /// Its lock is held for a moment.
  private let state: Guarded<State>
  /// Whether it has been warned of.
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
    return Pin(read: read, core: core, generation: core.commitNumber, since: .now)
  }

  /// Runs `body` on the pin, in turn with other reads.
  ///
  /// Nobody waits for its end but the next read: within it the snapshot may be ended or moved, and the store
  /// closed.
  private func use<R>(_ body: (TransactionCore) throws -> R) throws -> R {
    try store.checkNotForked()
    let thread = currentThread()
    // The turn is its own already.
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

  /// The pin, unless it is ended; `change` is made in one step with that.
  private func opened(_ change: (inout State) -> Void = { _ in }) throws -> Pin {
    let content = state.withLock { state in
      if case .open = state.content { change(&state) }
      return state.content
    }
    switch content {
    case .open(let pin): return pin
    case .ended:
      throw StoreError(.closed, "cannot read a snapshot of \(store.label): it was ended")
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
  /// - Throws: what `body` throws; ``StoreError/Code/snapshotExpired`` when the snapshot was ended because of its
  ///   age; ``StoreError/Code/closed`` after ``end()``, and in a forked child.
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
  public var generation: CommitNumber { get throws { try opened().generation } }

  /// How long the commit has been kept.
  public var age: Duration {
    get throws { try opened().since.duration(to: .now) }
  }

  /// Moves to the newest commit, also from an expired snapshot, and begins a new age.
  public func advance() throws {
    let fresh = try Self.pin(store)
    let isMoved = leave(to: .open(fresh))
    hasWarned.store(false, ordering: .relaxed)
    guard isMoved else {
      store.environment.endRead(fresh.read)
      throw StoreError(
        .closed, "cannot move a snapshot of \(store.label) forward: it was ended")
    }
  }

  /// Gives the commit up; reads throw from then on.
  ///
  /// A read that runs goes on, and the commit is kept until its end.
  public func end() { leave(to: .ended) }

  /// Gives the pin up that is open; false where the snapshot was ended before, or is of another commit.
  @discardableResult
  private func leave(to next: Content, onlyFrom generation: CommitNumber? = nil) -> Bool {
    let (isLeft, read): (Bool, Environment.PinnedRead?) = state.withLock { state in
      switch state.content {
      case .ended: return (false, nil)
      case .open(let pin) where generation != nil && pin.generation != generation:
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

  /// How many pages of the file cannot be used again because this snapshot, or an older reader, may see them.
  ///
  /// - Complexity: O(f) for f commits since the snapshot
  public func pagesHeldBack() throws -> Int {
    let generation = try generation.rawValue
    return try store.read { try $0.transaction.freePageCount(after: generation) }
  }

  /// The bytes of those pages.
  public func bytesHeldBack() throws -> Int {
    try pagesHeldBack() * store.environment.info.pageSize
  }

  // MARK: Age

  /// Called now and then; a snapshot of the `newest` commit keeps no pages from being used again.
  func checkAge(_ limits: SnapshotLimits, newest: UInt64) {
    guard let pin = try? opened(), pin.generation.rawValue < newest else { return }
    let age = pin.since.duration(to: .now)
    if age > limits.warningAge, let warn = limits.warn,
      !hasWarned.exchange(true, ordering: .relaxed)
    {
      warn(
        SnapshotWarning(
          generation: pin.generation, age: age, bytesHeldBack: (try? bytesHeldBack()) ?? 0))
    }
    guard let limit = limits.limit, age > limit else { return }
    leave(to: .expired(age: age), onlyFrom: pin.generation)
  }
}

extension Store {
  /// The newest commit, kept readable for as long as the result is referenced.
  ///
  /// - Throws: ``StoreError/Code/closed``.
  public func snapshot() throws -> PinnedSnapshot {
    let registry = companions.companion { SnapshotRegistry() }
    let snapshot = try PinnedSnapshot(core, registry)
    registry.add(snapshot, core)
    return snapshot
  }

  /// The reads that run in all processes that have the file open, oldest commit first.
  ///
  /// Empty where the store was opened without its lock file.
  public func readers() throws -> [StoreReader] {
    try core.checkOpen("list readers of")
    guard let newest = core.environment.newestCommit else { return [] }
    return core.environment.readerSlots().sorted { $0.commit < $1.commit }.map {
      StoreReader(
        process: Int($0.process), generation: CommitNumber($0.commit),
        commitsBehind: Int(clamping: newest &- $0.commit))
    }
  }
}

/// A read that runs.
public struct StoreReader: Sendable, Hashable {
  /// The number of the process.
  public let process: Int
  /// The number of the commit that it sees.
  public let generation: CommitNumber
  /// How many commits were made since.
  public let commitsBehind: Int
}
