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
  var running: Task<Void, any Error>?
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
  var floorReadAt: ReplicaClock.Instant?
  /// The slot after which the content differed from the writer's, and a base was taken instead.
  var mendedSlot: UInt64?
  /// The time of the last search for a base beyond a damaged entry.
  var passedAt: ReplicaClock.Instant?

  // MARK: Opening

  init(
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
}
