internal import LMDB
internal import LodestoreFormat

/// Tells the observers of one store what commits have changed.
///
/// Writes of this process are told by an ``ObservationSink``, on the writer's thread, and put into
/// a log. One job at a time on the store's reader threads takes what is in it, begins a read, and
/// asks each observer that depends on a changed entity whether it is concerned: an observer that
/// waits gets its update there, or is woken to work it out itself; one that is busy notes what has
/// changed and works it out when it asks for more. So commits that come meanwhile are merged, and
/// nothing queues up.
///
/// Commits are told apart by their numbers, which are consecutive over all processes. Those that
/// are in no log are another process's, or of a migration: what they have changed is read from the
/// history, where all entities have one, or is unknown, and observers run their queries again.
///
/// State, under its mutex: the log and the observers.
final class ObservationCenter: StoreCompanion {
  private struct State {
    /// With what each depends on, as it was last told: its own may change meanwhile.
    var observers: [Int: (observer: Observer, entities: Set<EntityNumber>)] = [:]
    var nextKey = 0
    /// Of commits of this process, ascending, that the job has not taken yet.
    var log: [(commit: UInt64, delta: ChangeDelta)] = []
    /// What the writes of the commit that is being made have told.
    var open: ChangeDelta?
    /// The last commit that observers know of.
    var processed: UInt64 = 0
    /// The place in the history of that commit; `nil` where no entity keeps one.
    var historyNumber: UInt64?
    var observed: Set<EntityNumber> = []
    /// Observers know of all records that had expired at this time; `nil` before the first look.
    var knownMoment: Double?
    var isRunning = false
    /// Whether the job has to look again before it ends.
    var mustRun = false
    var isClosed = false
    /// A write of a commit up to this one may have begun before there was a sink.
    var unsureThrough: UInt64 = 0
    /// Whether a write of the commit that is being made tells nothing, as it began before there was
    /// an observer.
    var isPartlyTold = false
    var sinkKey: Int?
    var listenerKey: Int?
    var watch: FileWatch?
  }

  let core: StoreCore
  private let state = Guarded(State())
  /// Whether commits are told to the center; held while that is brought about, so that no observer
  /// reads before it is.
  private let isListening = Guarded(false)
  /// Rings when a record expires that an observer may show.
  private let expiry = Alarm()

  init(_ core: StoreCore) { self.core = core }

  deinit { close() }

  /// Ends all observers.
  func close() {
    let (observers, sink, listener, watch) = state.withLock { state in
      state.isClosed = true
      defer {
        state.observers = [:]
        state.sinkKey = nil
        state.listenerKey = nil
        state.watch = nil
      }
      return (state.observers.values.map(\.observer), state.sinkKey, state.listenerKey, state.watch)
    }
    expiry.end()
    watch?.stop()
    if let sink { core.observers.remove(sink) }
    if let listener { core.environment.removeCommitListener(listener) }
    for observer in observers { observer.end() }
  }

  /// The system tells nothing of other processes from now on; for tests.
  func silence() { state.withLock { $0.watch }?.silence() }

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
      guard !state.isClosed else {
        throw StoreError(.closed, "cannot observe \(core.label): the store is closed")
      }
      state.nextKey += 1
      observer.key = state.nextKey
      state.observers[observer.key] = (observer, observer.dependencies.entities)
      state.observed.formUnion(observer.dependencies.entities)
    }
    do {
      try isListening.withLock { isListening in
        if isListening { return }
        try begin()
        isListening = true
      }
      if core.schema.hasExpiry { try core.read { try awaitExpiry($0) } }
    } catch {
      remove(observer)
      throw error
    }
  }

  func remove(_ observer: Observer) {
    state.withLock { state in
      state.observers[observer.key] = nil
      state.observed = state.observers.values.reduce(into: []) { $0.formUnion($1.entities) }
    }
  }

  /// The dependencies of `observer` may have changed; called by whoever reads for it, behind the
  /// read.
  func extend(_ observer: Observer) {
    observer.lock.lock()
    let entities = observer.dependencies.entities
    observer.lock.unlock()
    state.withLock { state in
      guard state.observers[observer.key]?.entities != entities else { return }
      state.observers[observer.key]?.entities = entities
      state.observed.formUnion(entities)
    }
    if core.schema.hasExpiry { try? core.read { try awaitExpiry($0) } }
  }

  // MARK: Expiry

  /// Sets the alarm to the next date of a record that an observer may show, or to now where one has
  /// passed that observers do not know of.
  private func awaitExpiry(_ core: TransactionCore) throws {
    guard let moment = core.moment else { return }
    let (observed, known) = state.withLock { state in
      // A clock may be set back, too: observers hear again of records that expire again.
      let known = min(state.knownMoment ?? moment, moment)
      state.knownMoment = known
      return (state.observed, known)
    }
    var next: Double?
    for entity in core.schema.expiring where observed.contains(entity.number) {
      var date = try core.nextExpiry(of: entity)
      // The clock was set ahead, or a read of this commit began before the date and this one after
      // it.
      if known < moment, try core.hasExpired(of: entity, since: known) { date = moment }
      guard let date else { continue }
      next = min(next ?? date, date)
    }
    guard let next else { return }
    // A clock that stands still is asked again, and not without a pause; a step of the clock is
    // noticed within a minute.
    let delay = Duration.seconds(min(max(next - moment, 0.01), Self.longestWait))
    expiry.set(after: delay) { [weak self] in await self?.noticeExpiry() }
  }

  /// The longest time until the clock is read again, in seconds.
  private static let longestWait = 60.0

  /// Wakes the observers of entities of which a record has expired without their knowledge.
  private func noticeExpiry() async {
    let core = core
    try? await core.onReader { [weak self] in
      try core.read { core in
        guard let self, let moment = core.moment else { return }
        let known = self.state.withLock { $0.knownMoment } ?? moment
        let entities = try core.schema.expiring.filter { entity in
          try core.hasExpired(of: entity, since: known)
        }
        let numbers = Set(entities.map(\.number))
        let observers = self.state.withLock { state in
          state.knownMoment = moment
          return state.observers.values.filter { !$0.entities.isDisjoint(with: numbers) }
            .map(\.observer)
        }
        for observer in observers { observer.wake(core.commitNumber.rawValue, at: moment) }
        try self.awaitExpiry(core)
      }
    }
  }

  private func begin() throws {
    let sink = core.observers.add { [weak self] core in
      guard let self else { return nil }
      return self.state.withLock { state -> Set<EntityNumber>? in
        // An observer that comes within the write is told of a commit that nothing is known of,
        // whatever the other writes of the commit tell.
        if state.observers.isEmpty { state.isPartlyTold = true }
        return state.observers.isEmpty ? nil : state.observed
      }.map { ObservationSink(self, observed: $0) }
    }
    let listener = core.environment.addCommitListener { [weak self] in self?.finish($0) }
    // One that runs may have begun before there was a sink.
    let unsure = core.environment.hasWriter ? (core.environment.newestCommit ?? 0) &+ 1 : 0
    let watch = FileWatch(core.environment) { [weak self] in self?.noticeOthers() }
    let (number, history): (UInt64, UInt64?)
    do {
      (number, history) = try core.read { core in
        (core.commitNumber.rawValue, try Self.historyNumber(core))
      }
    } catch {
      core.observers.remove(sink)
      core.environment.removeCommitListener(listener)
      throw error
    }
    let isOpen = state.withLock { state in
      if state.isClosed { return false }
      state.sinkKey = sink
      state.listenerKey = listener
      state.watch = watch
      state.unsureThrough = unsure
      // What was committed before is in the first read of each observer.
      if state.processed < number {
        state.processed = number
        state.historyNumber = history
      }
      return true
    }
    if isOpen, watch?.start() ?? true { return }
    core.observers.remove(sink)
    core.environment.removeCommitListener(listener)
    guard isOpen else { return }
    state.withLock { state in
      state.sinkKey = nil
      state.listenerKey = nil
      state.watch = nil
    }
    throw StoreError(
      .busy,
      "cannot observe \(core.label): the system starts no further thread (EAGAIN); end others first"
    )
  }

  private static func historyNumber(_ core: TransactionCore) throws -> UInt64? {
    core.schema.keepsHistory ? try HistoryLog(core).lastNumber() : nil
  }

  // MARK: Commits

  /// Called on the writer's thread for each write, behind the commit.
  ///
  /// - Parameter observed: the entities whose changes are in `delta`.
  func note(_ delta: ChangeDelta, of observed: Set<EntityNumber>) {
    state.withLock { state in
      var delta = delta
      // Observers may have come since the write began.
      for entity in state.observed.subtracting(observed) { delta.entities[entity] = .unknown }
      if state.open == nil { state.open = ChangeDelta() }
      state.open?.merge(delta)
    }
  }

  /// Called on the writer's thread behind all writes of a commit.
  private func finish(_ commit: UInt64) {
    let mustStart = state.withLock { state in
      // A commit that no write of a program has told of is a migration, or the like.
      let isSure = commit > state.unsureThrough && !state.isPartlyTold
      let delta = isSure ? state.open ?? .unknown : .unknown
      state.open = nil
      state.isPartlyTold = false
      if state.observers.isEmpty {
        // What nobody waits for is not kept; whoever comes reads this commit, or a later one,
        // first.
        state.log = []
        state.processed = max(state.processed, commit)
        state.historyNumber = nil
        return false
      }
      state.log.append((commit, delta))
      return Self.mustStart(&state)
    }
    if mustStart { start() }
  }

  /// Called when the file has changed; perhaps by another process.
  private func noticeOthers() {
    guard let newest = core.environment.newestCommit else { return }
    let mustStart = state.withLock { state in
      let known = max(state.processed, state.log.last?.commit ?? 0)
      guard newest > known, !core.environment.isCommitting(newest) else { return false }
      return Self.mustStart(&state)
    }
    if mustStart { start() }
  }

  /// Has the job serve observers that wait.
  func request() {
    if state.withLock({ Self.mustStart(&$0) }) { start() }
  }

  private static func mustStart(_ state: inout State) -> Bool {
    guard !state.isClosed, !state.observers.isEmpty else { return false }
    state.mustRun = true
    if state.isRunning { return false }
    state.isRunning = true
    return true
  }

  private func start() {
    // The job is short and serves observers of any priority, so no read goes before it.
    if core.environment.readerThreads.submit(urgency: .high, { self.run() }) { return }
    state.withLock { $0.isRunning = false }
  }

  private func run() {
    while true {
      let goesOn = state.withLock { state in
        defer { state.mustRun = false }
        if !state.mustRun || state.isClosed { state.isRunning = false }
        return state.isRunning
      }
      guard goesOn else { return }
      do {
        try core.read { core in try tell(core) }
      } catch {
        // A file that cannot be read: whoever observes it learns it from its own read.
        let newest = core.environment.newestCommit ?? 0
        for observer in currentObservers { observer.wake(newest) }
      }
    }
  }

  private var currentObservers: [Observer] {
    state.withLock { $0.observers.values.map(\.observer) }
  }

  /// Tells observers of what is new in the commit that `core` reads.
  private func tell(_ core: TransactionCore) throws {
    let commit = core.commitNumber.rawValue
    core.environment.waitForHooks(of: commit)
    let (found, observers, from, history) = state.withLock { state in
      let from = state.processed
      let count = state.log.prefix { $0.commit <= commit }.count
      let found = Array(state.log[..<count].drop { $0.commit <= from })
      state.log.removeFirst(count)
      return (found, state.observers.values.map(\.observer), from, state.historyNumber)
    }
    guard commit > from else {
      for observer in observers { observer.serve(core) }
      return
    }
    var delta = ChangeDelta()
    if UInt64(found.count) == commit - from {
      for entry in found { delta.merge(entry.delta) }
    } else {
      delta = try history.map { try Self.delta(after: $0, core) } ?? .unknown
    }
    let number = try Self.historyNumber(core)
    state.withLock { state in
      // Commits that came while there was no observer are passed by.
      guard commit >= state.processed else { return }
      state.processed = commit
      state.historyNumber = number
    }
    try awaitExpiry(core)
    let news = CommittedChanges(delta, from: from, core)
    for observer in observers { observer.learn(news) }
  }

  /// What the history tells of the writes after `number`; entities that keep none may have changed.
  private static func delta(after number: UInt64, _ core: TransactionCore) throws -> ChangeDelta {
    var delta = ChangeDelta()
    let log = HistoryLog(core)
    if let purged = try log.purged(), purged.number > number { return .unknown }
    for entity in core.schema.entities where entity.description.history == nil {
      delta.entities[entity.number] = .unknown
    }
    try log.forEachPart(from: number + 1) { _, _, part in
      for links in part.links { delta.relationships.insert(links.relationship) }
      for change in part.changes {
        var entity = EntityDelta()
        entity.touched = change.ids
        switch change.kind {
        case .inserted:
          entity.inserted = change.ids
          entity.changesRecords = true
        case .updated(let attributes): entity.attributes = Set(attributes)
        case .deleted: entity.changesRecords = true
        case .restarted: entity = .unknown
        }
        if entity.touched.count > EntityDelta.largestCount { entity = .unknown }
        var one = ChangeDelta()
        one.entities[change.entity] = entity
        delta.merge(one)
      }
      return true
    }
    // Links of entities without a history are told nowhere.
    for relationship in core.schema.relationships
    where relationship.from.description.history == nil
      && relationship.to.description.history == nil
    {
      delta.relationships.insert(relationship.description.number)
    }
    return delta
  }
}

extension Store {
  /// Tells observers what has changed.
  var observations: ObservationCenter { companions.companion { ObservationCenter(core) } }
}

extension TransactionCore {
  fileprivate var environment: Environment { store.environment }
}
