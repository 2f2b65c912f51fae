internal import EntityStore
internal import LodestoreDatasets
internal import LodestoreFormat
internal import LodestoreSystem
internal import Synchronization

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Follows a replica's log, and applies its entries to a copy.
actor FollowerLoop {
  let folder: FollowerFolder
  /// The lock of the folder; `nil` after the end.
  private var lock: FileLock?
  let client: ReplicaClient
  let types: [any Entity.Type]
  let options: ReplicaFollowerOptions
  let replica: UUIDBytes
  nonisolated let shared: FollowerShared
  private nonisolated let task = Mutex<Task<Void, Never>?>(nil)

  var file: FollowerFile
  var position: ChainPosition
  var cursor: FollowerCursor
  /// Entries that were read and not applied: parts of a write whose other parts are missing.
  var pending: [LogEntry] = []
  private var running: Task<Void, any Error>?
  /// Whether ``stop()`` was called, after which no poll begins.
  private var isStopping = false
  var registered: (slot: UInt64, at: ReplicaClock.Instant)?
  var purgedAt: ReplicaClock.Instant?
  /// Whether the folder may have stores and downloads that are not needed.
  var hasOldFiles = true
  /// The time at which the log was known to have the entry of ``position``.
  var confirmedAt: ReplicaClock.Instant?
  /// Whether the storage is known to have the replica of the copy.
  var hasCheckedReplica = false
  /// The time at which a poll began that has read the floor.
  private var floorReadAt: ReplicaClock.Instant?
  /// The time for which polls in the background trust that an absent slot was not collected.
  private static let floorInterval = Duration.seconds(30)
  /// The slot after which the content differed from the writer's, and a base was taken instead.
  var mendedSlot: UInt64?
  /// The time of the last search for a base beyond a damaged entry.
  var passedAt: ReplicaClock.Instant?

  // MARK: Opening

  /// Opens the copy in a folder, or makes one from the newest base.
  static func open(
    _ folder: FollowerFolder, _ client: ReplicaClient, _ types: [any Entity.Type],
    _ options: ReplicaFollowerOptions
  ) async throws -> FollowerLoop {
    var options = options
    try options.checkID()
    try options.check(types)
    options.conditions = try options.checkedConditions()
    try folder.make()
    let lock = try folder.locked()
    var reason: String?
    if let path = try folder.current {
      let file = try FollowerFile(path)
      let mark = try file.mark()
      guard mark.role == .follower else { throw ReplicaError.isWriter(path) }
      let cursor = try await file.writable.read { try $0.replicaCursor() }
      guard let cursor, cursor.entities.map(Set.init) == options.followedEntities.map(Set.init)
      else { throw ReplicaError.otherEntities(path) }
      if cursor.conditions == options.conditions {
        let store = UUIDBytes(bytes: cursor.storeID)
        let loop = try FollowerLoop(
          folder, lock, client, types, options, store, file, mark.position(of: store), mark.floor)
        try await loop.checkReplicaAtOpening()
        return loop
      }
      file.writable.close()
      reason = ConditionChange(cursor.conditions, options.conditions, path).text
    }
    let limited = client.giving(upAfter: options.failureLimit)
    let replica = try await Self.info(client).store
    var search = FollowerCursor(store: replica, position: nil, floor: .none)
    while true {
      switch try await limited.run(&search) {
      case .swap(let base):
        do {
          let file = try await install(base, folder, limited, options, floor: search.floor)
          let loop = try FollowerLoop(
            folder, lock, client, types, options, replica, file, base.position, search.floor,
            newCopyReason: reason)
          await loop.noteCheckedReplica()
          try folder.setCurrent(Self.name(of: file.path))
          return loop
        } catch is BaseDownload.Unusable { search.goOn(baseIsUnusable: true) }
      case .apply, .noBase: throw ReplicaError.noBase(client.place)
      case .refused(let error): throw ReplicaError(error)
      }
    }
  }

  static func info(_ client: ReplicaClient) async throws -> ReplicaInfo {
    guard let bytes = try await client.giving(upAfter: 6).object(.info) else {
      throw ReplicaError(
        .noBase,
        "cannot find a replica in '\(client.place)': it has no '\(ReplicaName.info.text)'; check "
          + "the address, or open a writer first")
    }
    return try WriterOpening.reading { () throws(PackError) in
      try ReplicaInfo(reading: bytes, named: ReplicaName.info.text)
    }
  }

  private init(
    _ folder: FollowerFolder, _ lock: FileLock, _ client: ReplicaClient,
    _ types: [any Entity.Type], _ options: ReplicaFollowerOptions, _ replica: UUIDBytes,
    _ file: FollowerFile, _ position: ChainPosition, _ floor: Floor,
    newCopyReason: String? = nil
  ) throws {
    self.folder = folder
    self.lock = lock
    self.client = client.giving(upAfter: options.failureLimit)
    self.types = types
    self.options = options
    self.replica = replica
    self.file = file
    self.position = position
    cursor = FollowerCursor(
      store: replica, position: position, floor: floor, readsMerged: true)
    let report = options.onStatus.map { report in
      { @Sendable (status: ReplicaFollowerStatus) in
        var status = status
        status.traffic = client.storage.traffic
        report(status)
      }
    }
    shared = FollowerShared(try file.readable(types, options.storeOptions), report)
    client.storage.onFailure { [weak shared] error in
      let failure = error.map { ReplicaError($0) }
      shared?.change { $0.lastFailure = failure }
    }
    let names = try file.writable.read { try $0.partialContentNames() }
    let (slot, epoch, lastWrite) = (position.slot, position.epoch, position.lastWrite)
    shared.change {
      $0.slot = slot
      $0.epoch = epoch
      $0.lastWrite = lastWrite
      $0.unverifiedContent = names
      $0.newCopyReason = newCopyReason
    }
  }

  static func name(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  // MARK: Face

  nonisolated var currentStatus: ReplicaFollowerStatus {
    var status = shared.status
    status.traffic = client.storage.traffic
    return status
  }

  /// Begins to follow in the background.
  nonisolated func begin() {
    let interval = max(options.pollInterval, .milliseconds(1))
    task.withLock { task in
      task = Task.detached(
        executorPreference: client.clock.executor, priority: .utility
      ) { [weak self, clock = client.clock] in
        while !Task.isCancelled {
          guard let wait = await self?.turn(interval) else { return }
          guard (try? await clock.sleep(wait)) != nil else { return }
        }
      }
    }
  }

  nonisolated func cancel() { task.withLock { $0 }?.cancel() }

  func stop() async {
    isStopping = true
    cancel()
    running?.cancel()
    await task.withLock { $0 }?.value
    while let running { _ = await running.result }
    shared.change { $0.end = $0.end ?? .stopped(folder.path) }
    shared.end()
    file.writable.close()
    // A stopped follower may be kept, and the folder is free for a takeover.
    lock = nil
  }

  /// Polls once in the background; returns the wait until the next poll.
  private func turn(_ interval: Duration) async -> Duration? {
    do {
      try await catchUp(trustsAbsence: true)
      return interval * client.clock.random(0.9...1.1)
    } catch let error as ReplicaError where error.isFinal {
      return nil
    } catch {
      return max(interval, .seconds(1))
    }
  }

  /// Applies all entries that the log has now.
  ///
  /// - Parameter trustsAbsence: Whether an absent slot counts as the end of the log if the floor
  ///   was read at most ``floorInterval`` ago. A poll without news then makes one request. A
  ///   collection may be noticed later by this time.
  func catchUp(trustsAbsence: Bool = false) async throws {
    // A poll that runs already may have read the end of the log before this call.
    while let running { try await running.waitForEnd(on: client.clock) }
    if let end = shared.status.end { throw end }
    if isStopping { throw ReplicaError.stopped(folder.path) }
    let task = Task(executorPreference: client.clock.executor) {
      try await self.runPoll(trustsAbsence)
    }
    running = task
    do {
      try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
      shared.change { $0.lastFailure = nil }
    } catch {
      if !(error is CancellationError) {
        let failure = Self.failure(error, folder.path)
        shared.change {
          $0.lastFailure = failure
          if failure.isFinal { $0.end = failure }
        }
        if failure.isFinal { shared.end() }
        throw failure
      }
      throw error
    }
  }

  private static func failure(_ error: any Error, _ path: String) -> ReplicaError {
    switch error {
    case let error as ReplicaError: error
    case let error as ReplayError: ReplicaError(error, path)
    case let error as BaseDownload.Unusable: error.error
    default:
      ReplicaError(.inputOutput, "cannot apply changes in '\(path)': \(error)", cause: error)
    }
  }

  // MARK: Polls

  /// Polls once, and ends within the task, so that nobody finds a task that has ended.
  private func runPoll(_ trustsAbsence: Bool) async throws {
    defer { running = nil }
    try await poll(trustsAbsence)
  }

  private func poll(_ trustsAbsence: Bool) async throws {
    if !hasCheckedReplica { try await checkReplica(client) }
    let start = client.clock.instant()
    var readAt = floorReadAt
    let isRecent = readAt.map { $0.duration(to: start) < Self.floorInterval } ?? false
    // The poll after a failure reads the floor.
    floorReadAt = nil
    while true {
      var machine = cursor
      if trustsAbsence, isRecent { machine.trustAbsence() }
      let result = try await client.run(&machine)
      cursor = machine
      if machine.hasReadFloor { readAt = start }
      switch result {
      case .apply(let entries, let isEnd):
        options.onStep(.read)
        do {
          try await apply(entries)
        } catch {
          if let failure = contentFailure(error) {
            try await mend(failure)
            continue
          }
          // Some transactions before the failure may have moved the place.
          if let mark = try? file.mark() { position = mark.position(of: replica) }
          restart()
          if error.isOfDamagedEntry, try await passDamage() { continue }
          throw error
        }
        cursor.goOn()
        if isEnd {
          try await confirmPlace()
          floorReadAt = readAt
          shared.change { $0.caughtUpAt = client.clock.date }
          try await register()
          try await purgeHistory()
          removeOldFiles()
          return
        }
      case .swap(let base):
        do {
          try await swap(base)
          cursor.goOn()
        } catch is BaseDownload.Unusable { cursor.goOn(baseIsUnusable: true) }
      case .noBase(let slot):
        restart()
        throw ReplicaError(
          .noBase,
          "cannot follow '\(client.place)': the log continues from a base of slot \(slot), which "
            + "is not there; the writer may be writing it", slot: slot)
      case .refused(let error):
        restart()
        if error.code == .damaged, try await passDamage() { continue }
        throw ReplicaError(error)
      }
    }
  }

  /// Reads again from the place that the store has.
  func restart() {
    pending = []
    cursor = FollowerCursor(
      store: replica, position: position, floor: cursor.floor, readsMerged: true)
  }

  private func apply(_ entries: [LogEntry]) async throws {
    let all = pending + entries
    guard !all.isEmpty else { return }
    let application = EntryApplication(
      file: file, store: replica, entities: options.followedEntities,
      transactionSizeLimitInBytes: options.transactionSizeLimitInBytes,
      conditions: options.conditions)
    let (start, floor, options) = (position, cursor.floor, options)
    let last = all.last?.head.lastWrite
    let result = try await BaseUpload.onThread {
      try application.apply(all, after: start, floor: floor) { result in
        options.onStep(.applied)
        options.onProgress?(
          ReplicaProgress(.applying, completed: result.position.lastWrite, total: last))
      }
    }
    position = result.position
    pending = all.filter { $0.head.slot > result.position.slot }
    shared.change {
      $0.slot = result.position.slot
      $0.epoch = result.position.epoch
      $0.lastWrite = result.position.lastWrite
      $0.changesApplied += result.changes
      if let time = result.time { $0.dataTime = Date(timeIntervalSinceReferenceDate: time) }
    }
  }
}

/// The difference between the conditions of a copy and those of its follower.
private struct ConditionChange {
  let text: String

  init(_ old: [String: String], _ new: [String: String], _ path: String) {
    let names = Set(old.keys).union(new.keys).sorted().filter { old[$0] != new[$0] }
    let list = names.map { name in
      "\(name) by \(old[name].map { "'\($0)'" } ?? "no condition")"
    }
    text =
      "the copy '\(path)' followed \(list.joined(separator: ", ")); it was replaced by a new copy"
  }
}

extension ReplicaError {
  /// Whether the failure stays in each repetition.
  ///
  /// A store that does not suit the program would be downloaded again by each repetition.
  fileprivate var isFinal: Bool {
    switch code {
    case .diverged, .stopped, .unsuitableStore, .otherReplica: true
    default: false
    }
  }

  static func noBase(_ place: String) -> ReplicaError {
    ReplicaError(
      .noBase,
      "cannot start from '\(place)': it has no base that can be used; wait until the writer has "
        + "written one")
  }

  static func isWriter(_ path: String) -> ReplicaError {
    ReplicaError(
      .unsuitableStore,
      "cannot follow with '\(path)': the store has taken over and writes the replica; open a "
        + "writer on it, or use another folder")
  }
}
