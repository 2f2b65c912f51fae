internal import LMDB
internal import LodestoreFormat

/// Reports the changes of commits to the observers of one store.
///
/// An ``ObservationSink`` adds the changes of each write of this process to the ``CommitLog``, on
/// the writer's thread. One job at a time on the store's reader threads takes the commits from the
/// log and begins a read. The job asks each observer that depends on a changed entity whether the
/// changes concern it. A waiting observer computes its update there, or is woken to read for
/// itself. A busy observer stores the changes and processes them later. Commits made meanwhile are
/// merged, so no queue grows.
///
/// Commits of other processes are not in the log. The job reads their changes from the history when
/// all entities keep one. Otherwise their changes are unknown, and observers run their queries
/// again.
final class ObservationCenter: StoreCompanion {
  private struct State {
    var observers = ObserverSet()
    var log = CommitLog()
    var job = Job.idle
    var connection = Connection.none
  }

  /// The state of the job that informs observers.
  private enum Job {
    case idle
    /// The job must examine the log. If the job is examining it already, it must do so once more.
    case due
    /// The job is examining the log.
    case looking
  }

  /// The center's connection to the commits of the store.
  private enum Connection {
    case none
    case made(Listeners)
    case closed

    var listeners: Listeners? { if case .made(let listeners) = self { listeners } else { nil } }
    var isMissing: Bool { if case .none = self { true } else { false } }
    var isClosed: Bool { if case .closed = self { true } else { false } }
  }

  private struct Listeners {
    let sink: Int
    let listener: Int
    /// The watch on commits of other processes; `nil` when no other process can write.
    let watch: FileWatch?

    func end(_ core: StoreCore) {
      watch?.stop()
      core.observers.remove(sink)
      core.environment.removeCommitListener(listener)
    }
  }

  let core: StoreCore
  private let state = Guarded(State())
  /// Held while the center connects, so that no observer reads before the connection exists.
  private let connecting = Guarded(())
  private let expiry = ExpiryAlarm()

  init(_ core: StoreCore) { self.core = core }

  deinit { close() }

  /// Ends all observers.
  func close() {
    let (observers, listeners) = state.withLock { state in
      defer {
        state.observers = ObserverSet()
        state.connection = .closed
      }
      return (state.observers.all, state.connection.listeners)
    }
    expiry.end()
    listeners?.end(core)
    for observer in observers { observer.end() }
  }

  /// Suppresses the system's notifications that another process has changed the file; for tests.
  func silence() { state.withLock { $0.connection.listeners }?.watch?.silence() }

  /// The number of commits that wait to be reported; for tests.
  var keptCommitCount: Int { state.withLock { $0.log.count } }

  /// Whether the center has no observer; for tests.
  var isIdle: Bool { state.withLock { $0.observers.isEmpty } }

  // MARK: Observers

  /// Adds `observer`, which is informed of later commits.
  ///
  /// An observer misses no change if it reads after this call and passes the read to
  /// ``Observer/start(at:)``.
  func add(_ observer: Observer) throws {
    try core.checkOpen("observe")
    try state.withLock { state in
      guard !state.connection.isClosed else {
        throw StoreError(.closed, "cannot observe \(core.label): the store is closed")
      }
      state.observers.put(observer, on: observer.dependencies.entities)
    }
    do {
      try connecting.withLock { _ in try connect() }
      if core.schema.hasExpiry { try core.read { try awaitExpiry($0) } }
    } catch {
      remove(observer)
      throw error
    }
  }

  func remove(_ observer: Observer) { state.withLock { $0.observers.remove(observer) } }

  /// Updates the dependencies of `observer`; called by the observer's task after each of its reads.
  func extend(_ observer: Observer) {
    observer.lock.lock()
    let entities = observer.dependencies.entities
    observer.lock.unlock()
    state.withLock { $0.observers.extend(observer, to: entities) }
    if core.schema.hasExpiry { try? core.read { try awaitExpiry($0) } }
  }

  // MARK: Expiry

  /// Sets the alarm to the next expiry date of a record that an observer may show.
  private func awaitExpiry(_ core: TransactionCore) throws {
    try expiry.set(for: state.withLock { $0.observers.entities }, core) { [weak self] in
      await self?.noticeExpiry()
    }
  }

  /// Wakes the observers of entities with newly expired records.
  private func noticeExpiry() async {
    let core = core
    try? await core.onReader { [weak self] in
      try core.read { core in
        guard let self, let moment = core.moment else { return }
        let entities = try self.expiry.takeExpired(at: moment, core)
        for observer in self.state.withLock({ $0.observers.observers(of: entities) }) {
          observer.wake(core.commitNumber.rawValue, at: moment)
        }
        try self.awaitExpiry(core)
      }
    }
  }

  // MARK: Commits

  /// Connects the center with the commits of the store, unless it already is connected.
  private func connect() throws {
    guard state.withLock({ $0.connection.isMissing }) else { return }
    let listeners = Listeners(
      sink: core.observers.add { [weak self] in self?.makeSink(for: $0) },
      listener: core.environment.addCommitListener { [weak self] in self?.finish($0) },
      watch: FileWatch(core.environment) { [weak self] in self?.detectOtherCommits() })
    let isOpen = state.withLock { state in
      if state.connection.isClosed { return false }
      state.connection = .made(listeners)
      return true
    }
    guard isOpen else { return listeners.end(core) }
    do {
      // A running write may have begun before the sink existed, so the log may lack its changes.
      // Its commit is noted as doubtful.
      let doubtful = core.environment.hasWriter ? (core.environment.newestCommit ?? 0) &+ 1 : 0
      let (number, write) = try core.read { ($0.commitNumber.rawValue, try Self.lastWrite($0)) }
      state.withLock { state in
        state.log.doubt(through: doubtful)
        // All commits up to this one count as reported, because the first read of each observer
        // includes them.
        state.log.report(number, lastWrite: write)
      }
      guard listeners.watch?.start() ?? true else {
        throw StoreError(
          .busy,
          "cannot observe \(core.label): the system starts no further thread (EAGAIN); end others first"
        )
      }
    } catch {
      // If the store was closed meanwhile, `close()` has already ended the listeners, and they are
      // not ended again here.
      let failed = state.withLock { state in
        defer { if !state.connection.isClosed { state.connection = .none } }
        return state.connection.listeners
      }
      failed?.end(core)
      throw error
    }
  }

  /// Creates the sink for a new write; `nil` while there is no observer.
  private func makeSink(for core: TransactionCore) -> ObservationSink? {
    let observed = state.withLock { state -> Set<EntityNumber>? in
      if !state.observers.isEmpty { return state.observers.entities }
      // An observer added during the write must treat the commit as unknown, even when other writes
      // of the commit are in the log.
      state.log.doubt(through: core.commitNumber.rawValue)
      return nil
    }
    return observed.map { ObservationSink(self, observed: $0) }
  }

  private static func lastWrite(_ core: TransactionCore) throws -> UInt64? {
    core.schema.keepsHistory ? try HistoryLog(core).lastNumber() : nil
  }

  /// Adds the changes of a write to the log; called on the writer's thread after the commit.
  ///
  /// - Parameter observed: the entities whose changes are in `delta`.
  func note(_ delta: CommitDelta, of observed: Set<EntityNumber>, in commit: UInt64) {
    state.withLock { state in
      var delta = delta
      // Observers may have been added since the write began, and the sink has not collected changes
      // of their entities.
      for entity in state.observers.entities.subtracting(observed) {
        delta.entities[entity] = .unknown
      }
      state.log.note(delta, of: commit)
    }
  }

  /// Ends a commit in the log; called on the writer's thread after ``note(_:of:in:)`` of all its
  /// writes.
  private func finish(_ commit: UInt64) {
    runJob { state in
      // Changes without an observer are dropped.
      if state.observers.isEmpty { state.log.drop(through: commit) } else { state.log.end(commit) }
      return true
    }
  }

  /// Examines the file for commits of other processes; called when the file has changed.
  private func detectOtherCommits() {
    let environment = core.environment
    guard let newest = environment.newestCommit else { return }
    runJob { newest > $0.log.newest && !environment.isCommitting(newest) }
  }

  /// Starts the job, so that it serves waiting observers.
  func request() { runJob { _ in true } }

  /// Changes the state, and starts the job if `change` returns true.
  private func runJob(_ change: (inout State) -> Bool) {
    let mustStart = state.withLock { state in
      guard change(&state), !state.connection.isClosed, !state.observers.isEmpty else {
        return false
      }
      defer { state.job = .due }
      return state.job == .idle
    }
    guard mustStart else { return }
    // The job is short and serves observers of any priority, so it takes precedence over reads.
    if core.environment.readerThreads.submit(urgency: .high, { self.run() }) { return }
    state.withLock { $0.job = .idle }
  }

  private func run() {
    while true {
      let mustLook = state.withLock { state in
        state.job = state.job == .due && !state.connection.isClosed ? .looking : .idle
        return state.job == .looking
      }
      guard mustLook else { return }
      do {
        try core.read { core in try notifyObservers(core) }
      } catch {
        // The file cannot be read; each observer gets the error from its own read.
        let newest = core.environment.newestCommit ?? 0
        for observer in state.withLock({ $0.observers.all }) { observer.wake(newest) }
      }
    }
  }

  /// Informs observers of the changes up to the commit that `core` reads.
  private func notifyObservers(_ core: TransactionCore) throws {
    let commit = core.commitNumber.rawValue
    core.environment.waitForHooks(of: commit)
    let (batch, observers, write) = state.withLock { state in
      (state.log.take(through: commit), state.observers.all, state.log.reportedWrite)
    }
    guard let batch else {
      for observer in observers { observer.deliver(core) }
      return
    }
    var delta = CommitDelta()
    if let deltas = batch.deltas {
      for later in deltas { delta.merge(later) }
    } else {
      delta = try write.map { try CommitDelta(afterWrite: $0, core) } ?? .unknown
    }
    let number = try Self.lastWrite(core)
    state.withLock { $0.log.report(commit, lastWrite: number) }
    try awaitExpiry(core)
    let changes = ObservationRound(delta, from: batch.from, core)
    for observer in observers { observer.learn(changes) }
  }
}

extension Store {
  /// The center that informs the observers of this store.
  var observations: ObservationCenter { companions.companion { ObservationCenter(core) } }
}

extension TransactionCore {
  fileprivate var environment: Environment { store.environment }
}
