internal import EntityStore
internal import LodestoreFormat
internal import Synchronization

/// Sends the commits of a store to a replica, one pack after the other.
actor WriterLoop {
  let store: Store
  let client: ReplicaClient
  let options: ReplicaWriterOptions
  let replica: UUIDBytes
  let session: UUIDBytes
  nonisolated let shared: WriterShared
  private nonisolated let task = Mutex<Task<Void, Never>?>(nil)
  private var signal: CommitSignal?

  var slots: SlotWriter
  var numbers: WriteNumbers
  /// The last write of the store's history that is sent.
  var shipped: UInt64
  var digests: ReplayDigests?
  var schema: [UInt8]
  var needsBase: Bool
  let openingMark: ReplicaMark?
  var lastCommit: CommitNumber?
  var lastMark: ReplicaClock.Instant
  /// Whether a collection waits for the next mark.
  var wantsMark = false
  var markedSlot: UInt64
  var leaseKeeper: LeaseKeeper
  /// A lease of a later epoch, until the log was read for its fence.
  var rival: Lease?
  /// The time at which the storage was known to have the last entry.
  var lastConfirmation: ReplicaClock.Instant?
  /// The time before which no base is begun, after a failed one.
  var nextBase: ReplicaClock.Instant

  // The state of bases, which WriterLoop+Bases changes.
  var newestBase: BaseHead?
  var logBytes: UInt64 = 0
  var baseTask: Task<Void, any Error>?
  /// The number of bases that were begun, and the last one of them.
  var begunBases: (count: Int, last: Task<Void, any Error>?) = (0, nil)
  var mergeTask: Task<Void, any Error>?
  var mergedSlot: UInt64 = 0
  /// The marks of followers, and the times when this writer first read them.
  var followerMarks: [FollowerMark: Double] = [:]

  init(
    _ store: Store, _ client: ReplicaClient, _ options: ReplicaWriterOptions,
    replica: UUIDBytes, session: UUIDBytes, _ place: WriterPlace, schema: [UInt8]
  ) {
    self.store = store
    self.client = client
    self.options = options
    self.replica = replica
    self.session = session
    (lastMark, nextBase) = (client.clock.instant(), client.clock.instant())
    shared = WriterShared(options.onStatus, client.clock) { status, numbers in
      status.traffic = client.storage.traffic
      let last = (try? store.read { try $0.historyToken().number }).map(numbers.inLog)
      let known = status.replicatedWrite
      status.lagInWrites = last.map { $0 > known ? $0 - known : 0 } ?? 0
    }
    // Requests are repeated without an end, so the status shows each failure.
    client.storage.onFailure { [weak shared] error in
      let failure = error.map { ReplicaError($0) }
      shared?.change { $0.lastFailure = failure }
    }
    slots = SlotWriter(position: place.position, floor: place.floor)
    numbers = place.numbers
    shipped = place.numbers.inStore(place.position.lastWrite)
    digests = place.digests
    self.schema = place.schema ?? schema
    needsBase = place.needsBase || place.position.slot == 0
    openingMark = place.mark
    markedSlot = place.position.slot
    leaseKeeper = LeaseKeeper(session: session)
  }

  deinit {
    baseTask?.cancel()
    mergeTask?.cancel()
  }

  var position: ChainPosition { slots.position }
  nonisolated var clock: ReplicaClock { client.clock }

  // MARK: Face

  nonisolated var currentStatus: ReplicaWriterStatus { shared.status }

  nonisolated func wait(for write: UInt64?) async throws { try await shared.wait(for: write) }

  /// Records the place in the store, and begins to send.
  func begin() async throws {
    shared.numbers = numbers
    publish()
    if position.unfinished != nil {
      if var mark = openingMark {
        // The fence is recognised by its session if this process ends before the next mark. The
        // entries before the fence are of the earlier sessions.
        mark.sessions = Array(([session] + mark.sessions).prefix(ReplicaMark.sessionLimit))
        try await self.mark(mark)
      }
      try await abandonParts()
    } else {
      try await mark()
    }
    options.onStep(.opened)
    let shared = shared
    signal = try CommitSignal(
      store, watchesFile: clock.watchesFiles, onCommit: { shared.noteCommit() },
      onChange: { shared.wake() })
    try await findBase()
    shared.noteCommit()
    let interval = min(max(options.checkpointInterval, .milliseconds(100)), .seconds(10))
    let leaseInterval = options.leaseInterval.map { max($0, .milliseconds(10)) }
    task.withLock { [clock] task in
      task = Task.detached(executorPreference: clock.executor) { [weak self] in
        await withTaskGroup(of: Void.self) { group in
          group.addTask {
            while (try? await clock.sleep(interval)) != nil { shared.wake() }
          }
          if let lease = leaseInterval {
            // The lease stays valid during long steps of the loop, such as a base.
            group.addTask { [weak self] in
              while await self?.renewLease() != nil {
                guard (try? await clock.sleep(lease)) != nil else { break }
              }
            }
          }
          group.addTask { [weak self] in
            for await _ in shared.knocks {
              guard let self, await self.turn() else { break }
            }
          }
          _ = await group.next()
          group.cancelAll()
        }
      }
    }
  }

  nonisolated func cancel() { task.withLock { $0 }?.cancel() }

  /// Ends the loop of a writer that nobody has any more.
  nonisolated func drop() {
    shared.noteDropped()
    cancel()
  }

  /// Sends the rest, records the place, and ends the loop.
  func stop() async throws {
    if let end = shared.status.end {
      cancel()
      if end.code == .stopped { return }
      throw end
    }
    do {
      try await shared.wait(for: nil)
    } catch let error as ReplicaError {
      // Another call has stopped the writer in the meantime.
      if error.code == .stopped { return }
      throw error
    }
    // A cancelled wait leaves a writer that runs. After the wait, the loop ends in any case, so no
    // later call may wait for it.
    defer {
      signal = nil
      shared.end(.stopped(store.path))
    }
    shared.isStopping = true
    cancel()
    await task.withLock { $0 }?.value
    baseTask?.cancel()
    mergeTask?.cancel()
    _ = try? await baseTask?.value
    _ = try? await mergeTask?.value
    try await mark()
    if options.leaseInterval != nil {
      var keeper = leaseKeeper
      await keeper.release(epoch: max(position.epoch, 1), on: client.storage)
    }
  }

  // MARK: The loop

  /// Sends the new commits; returns whether the loop continues.
  private func turn() async -> Bool {
    do {
      try await gather()
      if position.unfinished != nil { try await abandonParts() }
      if needsBase {
        try await writeBaseEntry()
        needsBase = false
      }
      try await ship()
      if markedSlot != position.slot,
        wantsMark || clock.elapsed(since: lastMark) >= options.checkpointInterval
      {
        try await mark()
      }
      try await tendBases()
      try await compareLease()
      return !Task.isCancelled
    } catch is CancellationError {
      return false
    } catch let error as ReplicaError {
      return await recover(from: error)
    } catch {
      return await recover(
        from: ReplicaError(
          .storage, "cannot send the commits of '\(store.path)': \(error)", cause: error))
    }
  }

  /// Ends the writer after a failure that stays in each repetition; otherwise waits.
  private func recover(from error: ReplicaError) async -> Bool {
    switch error.code {
    case .fenced, .behind, .diverged, .otherStore, .otherReplica, .damaged, .unsuitableStore,
      .newerFormat, .unsupported:
      shared.end(error)
      return false
    default:
      shared.change { $0.lastFailure = error }
      if (error.cause as? StoreError)?.code == .closed {
        shared.end(.stopped(store.path))
        return false
      }
      try? await clock.sleep(.seconds(1))
      shared.wake()
      return !Task.isCancelled
    }
  }

  /// Waits for further commits, unless somebody waits for the storage.
  private func gather() async throws {
    let start = clock.instant()
    guard try hasNews() else { return }
    shared.noteUnsent()
    while !shared.hasWaiters, !shared.isStopping,
      clock.elapsed(since: start) < options.flushInterval
    {
      if try lastWrite() &- shipped >= options.flushCount { return }
      try await clock.sleep(min(.milliseconds(20), options.flushInterval))
    }
  }

  private func lastWrite() throws -> UInt64 {
    try store.read { try $0.historyToken().number }
  }

  /// Whether the store has a commit that the loop has not read.
  func hasNews() throws -> Bool {
    try store.read { $0.commitNumber } != lastCommit
  }

  /// The writes that no entry of this writer has.
  var unshipped: ClosedRange<UInt64>? {
    guard let last = try? store.read({ try $0.historyToken().number }) else { return nil }
    return WriterOpening.range(position.lastWrite + 1, numbers.inLog(last))
  }

  func publish() {
    let (position, head, bytes) = (position, newestBase?.slot, logBytes)
    shared.change {
      $0.slot = position.slot
      $0.epoch = position.epoch
      $0.replicatedWrite = position.lastWrite
      $0.baseSlot = head
      $0.logBytesSinceBase = bytes
    }
  }
}

extension ReplicaError {
  static func stopped(_ path: String) -> ReplicaError {
    ReplicaError(
      .stopped, "the replica of '\(path)' was stopped; open a new writer or follower to continue")
  }
}

extension Duration {
  var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) * 1e-18 }
}
