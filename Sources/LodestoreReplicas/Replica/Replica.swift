public import EntityStore
internal import LodestoreFormat
internal import LodestoreSystem

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Replicas: one writer, and any number of machines with copies, on storage that exists already.
///
///     let bucket = try ReplicaStorage.s3("https://s3.eu-central-1.amazonaws.com/backups/pods")
///     let writer = try await Replica.writer(store, to: bucket)
///
///     // On another machine:
///     let follower = try await Replica.follower(at: "copy", of: bucket, entities: [Pod.self])
///
///     // After the writer's machine is lost:
///     let taken = try await Replica.takeOver(bucket, at: "pods.lodestore")
///
/// The storage needs conditional writes (`If-None-Match: *`), and is tested for them. A replica has
/// bases, which are sealed files of the store, and a log of all writes since. Every entity of the
/// store must keep a history.
public enum Replica {
  // MARK: Writing

  /// Opens the writer of a replica, which sends all commits of the store from now on.
  ///
  /// The first writer of an empty storage creates the replica, and begins it with a base. The store
  /// must stay open while the writer runs.
  ///
  /// - Throws: ``ReplicaError`` with these codes, among others:
  ///   - `untrustworthyStorage` for a storage that ignores conditions.
  ///   - `busy` while another writer of this machine has the store's file.
  ///   - `behind` for an older copy of the store.
  ///   - `fenced` after another writer has taken over.
  ///   - `diverged` for a store whose writes are not those of the replica.
  ///   - `otherReplica` for a store of another replica; see
  ///     ``ReplicaWriterOptions/beginsNewReplica``.
  ///   - `unsuitableStore` for a store with entities that keep no history, and for a follower.
  public static func writer(
    _ store: Store, to bucket: ReplicaStorage,
    options: ReplicaWriterOptions = ReplicaWriterOptions()
  ) async throws -> ReplicaWriter {
    let client = bucket.client
    let session = UUIDBytes.random
    let opening = WriterOpening(
      store: store, client: client.giving(upAfter: options.openingFailureLimit), session: session,
      beginsNewReplica: options.beginsNewReplica, name: options.name)
    do {
      guard store.seal == nil else { throw ReplicaError.sealedStore(store.path) }
      let lock = try await WriterLock.locked(store, bucket.clock)
      let (replica, place) = try await opening.open(probing: options.probesStorage)
      let schema = try await store.read { try $0.replayFacts().schema }
      let loop = WriterLoop(
        store, client, options, replica: replica, session: session, place, schema: schema)
      loop.shared.hold(lock)
      try await loop.begin()
      return ReplicaWriter(store, loop, options.durability)
    } catch let error as ReplayError { throw ReplicaError(error, store.path) }
  }

  // MARK: Following

  /// Opens a copy of the replica's store in a folder, and follows the log.
  ///
  /// The first call downloads the newest base. Later calls continue with the folder's copy, and
  /// need no connection to begin.
  ///
  /// - Parameters:
  ///   - path: A folder of the follower's own, which is created if it is missing.
  ///   - entities: The types that the program reads.
  /// - Throws: ``ReplicaError``; `StoreError` if the entities do not fit the store.
  public static func follower(
    at path: String, of bucket: ReplicaStorage, entities: [any Entity.Type],
    options: ReplicaFollowerOptions = ReplicaFollowerOptions()
  ) async throws -> ReplicaFollower {
    let client = bucket.client
    do {
      let loop = try await FollowerLoop.open(
        FollowerFolder(path), client, entities, options)
      loop.begin()
      return ReplicaFollower(loop)
    } catch let error as ReplayError { throw ReplicaError(error, path) }
  }

  // MARK: Restoring

  /// Restores a state of the replica into a new store.
  ///
  /// The store has no part in the replica, and a UUID of its own. Tokens of the writer's history
  /// are refused there, because their numbers mean other writes. The content is compared with the
  /// digests of the log.
  ///
  /// - Parameter path: A path at which nothing exists.
  /// - Throws: ``ReplicaError``, after which no file exists; with the code `notKept` if the replica
  ///   does not have the state.
  @discardableResult
  public static func restore(
    _ bucket: ReplicaStorage, to target: ReplicaRestoreTarget = .latest, at path: String,
    options: ReplicaRestoreOptions = ReplicaRestoreOptions()
  ) async throws -> ReplicaRestoreReport {
    RestoreScratch.removeAbandoned(for: path)
    try requireFree(path)
    let run = try await run(bucket, options)
    let scratch = try RestoreScratch(for: path)
    defer { withExtendedLifetime(scratch) {} }
    let restored: RestoreRun.Restored
    do {
      restored = try await run.registered {
        try await run.restore(to: target, scratch: scratch.stem)
      }
    } catch let error as ReplayError { throw ReplicaError(error, path) }
    let (file, seals) = (restored.file, options.seals)
    let lastWrite = restored.report.lastWrite
    let now = run.client.clock.date
    let time = restored.report.time ?? now
    try await BaseUpload.onThread {
      defer { file.writable.close() }
      try file.writable.replaying(author: "replica", context: nil) { tx in
        try tx.setReplicaCursor(nil)
      }
      guard seals else { return }
      let facts = try file.writable.exactSnapshot().seal(
        to: path, name: "replica", generation: max(lastWrite, 1), dataAsOf: time, sealedAt: now)
      _ = facts
    }
    options.onStep(.complete)
    if !options.seals { try move(file.path, to: path, options) }
    return restored.report
  }

  /// The report that a restore would return, and that restores nothing.
  ///
  /// The call downloads heads of bases and of entries, and whole entries only where the wanted
  /// state lies within them.
  ///
  /// - Parameter path: The path of the new store, at which nothing may exist; `nil` to leave out
  ///   this check.
  /// - Throws: ``ReplicaError`` with the code with which the restore would fail, such as `notKept`.
  public static func restorePlan(
    _ bucket: ReplicaStorage, to target: ReplicaRestoreTarget = .latest, at path: String? = nil,
    options: ReplicaRestoreOptions = ReplicaRestoreOptions()
  ) async throws -> ReplicaRestoreReport {
    if let path { try requireFree(path) }
    return try await run(bucket, options).plan(for: target)
  }

  static func run(
    _ bucket: ReplicaStorage, _ options: ReplicaRestoreOptions
  ) async throws -> RestoreRun {
    let client = bucket.client.giving(upAfter: options.failureLimit)
    let info = try await FollowerLoop.info(client)
    return RestoreRun(
      client: client, options: options, replica: info.store,
      registration: RestoreRegistration(client))
  }

  static func requireFree(_ path: String) throws {
    guard stat(at: path, followsLink: false) == nil else {
      throw ReplicaError(
        .unsuitablePath, "cannot write '\(path)': something exists there; choose another path")
    }
  }

  private static func move(
    _ file: String, to path: String, _ options: ReplicaRestoreOptions
  ) throws {
    // A link fails if something has appeared at the path.
    guard link(file, path) == 0 else { throw ReplicaError.system(errno, "write", path) }
    options.onStep(.linked)
    unlink(file)
    unlink(file + "-lock")
    let folder = open(Folder.path(of: path), O_RDONLY | O_CLOEXEC)
    if folder >= 0 {
      fsync(folder)
      close(folder)
    }
  }

  // MARK: Taking over

  /// Makes this machine the writer of a replica.
  ///
  /// The call restores the newest state to a new store, or brings the copy of a follower up to
  /// date. A fence in the log then stops the former writer for ever: its next request to the log
  /// fails, whatever its clock says. Open a writer with the returned store to continue.
  ///
  /// The new store refuses tokens of the former writer's history, because its history has other
  /// numbers. Programs that keep such tokens begin again, as with another store. Followers go on.
  ///
  /// Commits of the former writer that no replica has stay in its store. Its writer reports them
  /// with the code `fenced`, and ``exportDiverged(_:to:from:)`` writes them to a file.
  ///
  /// - Parameter path: A path at which nothing exists, or the folder of a stopped follower.
  /// - Throws: ``ReplicaError``; with the code `busy` while the lease of the former writer is
  ///   valid, unless ``ReplicaRestoreOptions/ignoresLease`` or
  ///   ``ReplicaRestoreOptions/waitsForLease`` is true. After another error the former writer may
  ///   be fenced already; the next call completes the takeover.
  public static func takeOver(
    _ bucket: ReplicaStorage, at path: String,
    options: ReplicaRestoreOptions = ReplicaRestoreOptions()
  ) async throws -> ReplicaTakeoverReport {
    let run = try await run(bucket, options)
    try await run.respectLease(at: bucket.clock.now())
    do {
      return try await run.registered {
        try await takeOver(at: path, by: run, options)
      }
    } catch let error as ReplayError {
      throw ReplicaError(error, path)
    } catch let error as StoreError { throw ReplicaError(error) }
  }

  private static func takeOver(
    at path: String, by run: RestoreRun, _ options: ReplicaRestoreOptions
  ) async throws -> ReplicaTakeoverReport {
    let folder = FollowerFolder(path)
    if let file = try folder.current {
      let lock = try folder.locked()
      defer { withExtendedLifetime(lock) {} }
      return try await run.takeOver(with: FollowerFile(file), folder: folder)
    }
    RestoreScratch.removeAbandoned(for: path)
    try requireFree(path)
    let scratch = try RestoreScratch(for: path)
    defer { withExtendedLifetime(scratch) {} }
    let restored = try await run.restore(to: .latest, scratch: scratch.stem)
    var report = try await run.takeOver(with: restored.file, folder: nil)
    options.onStep(.complete)
    try move(restored.file.path, to: path, options)
    report.path = path
    return report
  }

  // MARK: Diverged writes

  /// Writes the writes of a store that no replica has to a new file, as lines of JSON.
  ///
  /// Each line has one write: its number, time, author and context, then its changes. The changes
  /// are records with all values after the write, ids of deleted records, and links.
  ///
  /// - Parameters:
  ///   - store: A store whose writer was fenced or refused as diverged.
  ///   - path: A path at which nothing exists.
  ///   - first: The number of the first write; by default the one after the last write of which the
  ///     store knows that the replica has it. ``ReplicaError/divergedWrites`` has the exact number.
  /// - Returns: The number of exported writes.
  /// - Throws: ``ReplicaError``; `StoreError` if the history cannot be read.
  @discardableResult
  public static func exportDiverged(
    _ store: Store, to path: String, from first: UInt64? = nil
  ) throws -> Int {
    try requireFree(path)
    do {
      return try DivergedExport(store).write(to: path, from: first)
    } catch let error as ReplayError { throw ReplicaError(error, store.path) }
  }
}
