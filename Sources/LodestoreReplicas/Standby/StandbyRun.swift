public import EntityStore
internal import LodestoreFormat

/// The calls of a standby.
struct StandbyRun: Sendable {
  let folder: FollowerFolder
  let bucket: ReplicaStorage
  let client: ReplicaClient
  let entities: [any Entity.Type]
  let options: ReplicaStandbyOptions
  let session = UUIDBytes.random

  func follower() async throws -> ReplicaFollower {
    try await Replica.follower(
      at: folder.path, of: bucket, entities: entities, options: options.follower)
  }

  /// Reads the end of the log and the lease; returns the wait until the writer counts as ended.
  func look(_ follower: ReplicaFollower, _ watch: inout LeaseWatch) async throws -> Duration? {
    try await follower.catchUp()
    let lease = try await client.object(.lease)
    return watch.look(lease, slot: follower.status.slot, at: client.clock.instant())
  }

  /// Writes a lease of this standby in place of the one that has ended.
  ///
  /// Of several standbys, the others see the new lease as a sign and wait again.
  func claim(after epoch: UInt64, _ watch: LeaseWatch) async throws -> Bool {
    let duration = watch.lease?.duration ?? options.assumedLease ?? .seconds(90)
    let lease = Lease(
      holder: options.name.map(PackLimits.cut) ?? Lease.processName, epoch: epoch + 1,
      until: client.clock.now() + duration.inSeconds, milliseconds: duration.wholeMilliseconds,
      session: session)
    var keeper = LeaseKeeper(session: session)
    do throws(StorageError) {
      return try await keeper.claim(lease, insteadOf: watch.bytes, on: client.storage)
    } catch {
      throw ReplicaClient.converted(error)
    }
  }

  func takeOver() async throws -> ReplicaTakeoverReport {
    var restore = ReplicaRestoreOptions()
    restore.ignoresLease = true
    restore.name = options.name
    restore.failureLimit = options.follower.failureLimit
    restore.onProgress = options.follower.onProgress
    return try await Replica.takeOver(bucket, at: folder.path, options: restore)
  }

  /// The store that has taken over, for writing.
  func store() throws -> Store {
    guard let path = try folder.current else { throw ReplicaError.noBase(client.place) }
    var options = options.storeOptions
    options.access = .existing
    return try Store(at: path, entities: entities, options: options)
  }

  /// Whether the folder's store has taken over earlier.
  var hasTakenOver: Bool {
    get throws {
      guard let path = try folder.current else { return false }
      let store = try Store(at: path, entities: [], options: .readOnly)
      defer { store.close() }
      return try ReplicaMark.of(store)?.role == .writer
    }
  }
}

extension ReplicaError {
  /// Whether a standby goes on after the failure.
  var isPassing: Bool {
    switch code {
    case .storage, .busy, .noBase, .notKept: true
    default: false
    }
  }
}

extension Replica {
  /// Opens a follower that takes over when the replica's writer has ended.
  ///
  /// The first call downloads the newest base, as
  /// ``follower(at:of:entities:options:)`` does. Call ``ReplicaStandby/waitToTakeOver()`` to wait.
  ///
  /// - Parameters:
  ///   - path: A folder of the standby's own, which is created if it is missing.
  ///   - entities: The types that the program reads and, after the takeover, writes.
  /// - Throws: ``ReplicaError``; `StoreError` if the entities do not fit the store.
  public static func standby(
    at path: String, of bucket: ReplicaStorage, entities: [any Entity.Type],
    options: ReplicaStandbyOptions = ReplicaStandbyOptions()
  ) async throws -> ReplicaStandby {
    guard options.follower.followedEntities == nil, options.follower.conditions.isEmpty else {
      throw ReplicaError(
        .unsuitableStore,
        "cannot stand by in '\(path)': a standby follows all entities; leave out the list of "
          + "followed entities")
    }
    let run = StandbyRun(
      folder: FollowerFolder(path), bucket: bucket,
      client: bucket.client.giving(upAfter: options.follower.failureLimit),
      entities: entities, options: options)
    let hasTakenOver = try run.hasTakenOver
    return ReplicaStandby(run, hasTakenOver ? nil : try await run.follower())
  }
}
