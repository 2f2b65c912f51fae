internal import LMDB
internal import LodestoreFormat

/// Reports the changes of commits to the observers of one store.
///
/// An ``ObservationSink`` notes the changes of each write of this process in the ``CommitLog``, on
/// the writer's thread. One job at a time on the store's reader threads takes the commits from the
/// log, begins a read, and asks each observer that depends on a changed entity whether it is
/// concerned. An observer that waits gets its update there, or is woken to read for itself. A busy
/// observer notes the changes, and asks for them later. So commits that come meanwhile are merged,
/// and nothing queues up.
///
/// The log lacks the commits of other processes. The job reads their changes from the history where
/// all entities keep one. Otherwise their changes are unknown, and observers run their queries again.
final class ObservationCenter: StoreCompanion {
  private struct State {
    var observers = ObserverSet()
    var log = CommitLog()
    var job = Job.idle
    var connection = Connection.none
  }

  /// The job that tells observers.
  private enum Job {
    case idle
    /// The job is to look at the log, once more if it does already.
    case due
    /// The job looks at the log.
    case looking
  }

  /// How the center learns of commits.
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
    /// `nil` where no other process can write.
    let watch: FileWatch?

    func end(_ core: StoreCore) {
      watch?.stop()
      core.observers.remove(sink)
      core.environment.removeCommitListener(listener)
    }
  }

  let core: StoreCore
  private let state = Guarded(State())
  /// Held while the center is connected, so that no observer reads before it is.
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

  /// The system tells nothing of other processes from now on; for tests.
  func silence() { state.withLock { $0.connection.listeners }?.watch?.silence() }

  /// How many commits wait to be told; for tests.
  var keptCommitCount: Int { state.withLock { $0.log.count } }

  /// Whether nobody observes; for tests.
  var isIdle: Bool { state.withLock { $0.observers.isEmpty } }

  // MARK: Observers

  /// Has `observer` told of what is committed from now on.
  ///
  /// A read that begins after this call, and whose commit is told to ``Observer/start(at:)``,
  /// misses nothing.
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

  /// The dependencies of `observer` may have changed; called by whoever reads for it, behind the
  /// read.
  func extend(_ observer: Observer) {
    observer.lock.lock()
    let entities = observer.dependencies.entities
    observer.lock.unlock()
    state.withLock { $0.observers.extend(observer, to: entities) }
    if core.schema.hasExpiry { try? core.read { try awaitExpiry($0) } }
  }

  // MARK: Expiry

  /// Sets the alarm to the next date of a record that an observer may show.
  private func awaitExpiry(_ core: TransactionCore) throws {
    try expiry.set(for: state.withLock { $0.observers.entities }, core) { [weak self] in
      await self?.noticeExpiry()
    }
  }

  /// Wakes the observers of entities of which a record has expired without their knowledge.
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

  /// Connects the center with the commits of the store, unless it is connected.
  private func connect() throws {
    guard state.withLock({ $0.connection.isMissing }) else { return }
    let listeners = Listeners(
      sink: core.observers.add { [weak self] in self?.makeSink(for: $0) },
      listener: core.environment.addCommitListener { [weak self] in self?.finish($0) },
      watch: FileWatch(core.environment) { [weak self] in self?.noticeOthers() })
    let isOpen = state.withLock { state in
      if state.connection.isClosed { return false }
      state.connection = .made(listeners)
      return true
    }
    guard isOpen else { return listeners.end(core) }
    do {
      // One that runs may have begun before there was a sink.
      let doubtful = core.environment.hasWriter ? (core.environment.newestCommit ?? 0) &+ 1 : 0
      let (number, write) = try core.read { ($0.commitNumber.rawValue, try Self.lastWrite($0)) }
      state.withLock { state in
        state.log.doubt(through: doubtful)
        // The first read of each observer has all earlier commits.
        state.log.report(number, lastWrite: write)
      }
      guard listeners.watch?.start() ?? true else {
        throw StoreError(
          .busy,
          "cannot observe \(core.label): the system starts no further thread (EAGAIN); end others first"
        )
      }
    } catch {
      // A store that is closed meanwhile has ended them.
      let failed = state.withLock { state in
        defer { if !state.connection.isClosed { state.connection = .none } }
        return state.connection.listeners
      }
      failed?.end(core)
      throw error
    }
  }

  /// The sink of a write that begins; `nil` while nobody observes.
  private func makeSink(for core: TransactionCore) -> ObservationSink? {
    let observed = state.withLock { state -> Set<EntityNumber>? in
      if !state.observers.isEmpty { return state.observers.entities }
      // To an observer that comes within the write the commit is unknown, whatever its other
      // writes note.
      state.log.doubt(through: core.commitNumber.rawValue)
      return nil
    }
    return observed.map { ObservationSink(self, observed: $0) }
  }

  private static func lastWrite(_ core: TransactionCore) throws -> UInt64? {
    core.schema.keepsHistory ? try HistoryLog(core).lastNumber() : nil
  }

  /// Called on the writer's thread for each write, after the commit.
  ///
  /// - Parameter observed: the entities whose changes are in `delta`.
  func note(_ delta: ChangeDelta, of observed: Set<EntityNumber>, in commit: UInt64) {
    state.withLock { state in
      var delta = delta
      // Observers may have come since the write began.
      for entity in state.observers.entities.subtracting(observed) {
        delta.entities[entity] = .unknown
      }
      state.log.note(delta, of: commit)
    }
  }

  /// Called on the writer's thread after ``note(_:of:in:)`` of all writes of a commit.
  private func finish(_ commit: UInt64) {
    runJob { state in
      // Changes that no observer waits for are dropped.
      if state.observers.isEmpty { state.log.drop(through: commit) } else { state.log.end(commit) }
      return true
    }
  }

  /// Called when the file has changed; perhaps by another process.
  private func noticeOthers() {
    let environment = core.environment
    guard let newest = environment.newestCommit else { return }
    runJob { newest > $0.log.newest && !environment.isCommitting(newest) }
  }

  /// Has the job serve observers that wait.
  func request() { runJob { _ in true } }

  /// Changes the state; where `change` returns true, the job looks at it.
  private func runJob(_ change: (inout State) -> Bool) {
    let mustStart = state.withLock { state in
      guard change(&state), !state.connection.isClosed, !state.observers.isEmpty else {
        return false
      }
      defer { state.job = .due }
      return state.job == .idle
    }
    guard mustStart else { return }
    // The job is short and serves observers of any priority, so no read goes before it.
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
        try core.read { core in try tell(core) }
      } catch {
        // A file that cannot be read: whoever observes it learns it from its own read.
        let newest = core.environment.newestCommit ?? 0
        for observer in state.withLock({ $0.observers.all }) { observer.wake(newest) }
      }
    }
  }

  /// Tells observers of what is new in the commit that `core` reads.
  private func tell(_ core: TransactionCore) throws {
    let commit = core.commitNumber.rawValue
    core.environment.waitForHooks(of: commit)
    let (news, observers, write) = state.withLock { state in
      (state.log.take(through: commit), state.observers.all, state.log.reportedWrite)
    }
    guard let news else {
      for observer in observers { observer.serve(core) }
      return
    }
    var delta = ChangeDelta()
    if let deltas = news.deltas {
      for later in deltas { delta.merge(later) }
    } else {
      delta = try write.map { try ChangeDelta(afterWrite: $0, core) } ?? .unknown
    }
    let number = try Self.lastWrite(core)
    state.withLock { $0.log.report(commit, lastWrite: number) }
    try awaitExpiry(core)
    let changes = CommittedChanges(delta, from: news.from, core)
    for observer in observers { observer.learn(changes) }
  }
}

extension Store {
  /// Tells observers what has changed.
  var observations: ObservationCenter { companions.companion { ObservationCenter(core) } }
}

extension TransactionCore {
  fileprivate var environment: Environment { store.environment }
}
