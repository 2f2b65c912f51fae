internal import EntityStore
internal import LodestoreSystem

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension FollowerLoop {
  // MARK: Bases

  /// Replaces the store by a base.
  func swap(_ base: BaseHead) async throws {
    let new = try await Self.install(base, folder, client, options, floor: cursor.floor)
    let store: Store
    do {
      store = try new.readable(types, options.storeOptions)
    } catch {
      new.writable.close()
      throw ReplicaError(
        .unsuitableStore,
        "cannot use the base of slot \(base.slot): the program's entities do not fit its schema; "
          + "update the program", slot: base.slot, cause: error)
    }
    try folder.setCurrent(Self.name(of: new.path))
    options.onStep(.swapped)
    let old = file
    (file, position, pending) = (new, base.position, [])
    shared.replace(store)
    shared.change {
      $0.slot = base.slot
      $0.epoch = base.epoch
      $0.lastWrite = base.lastWrite
      $0.dataTime = Date(timeIntervalSinceReferenceDate: base.time)
      $0.replacements += 1
    }
    try noteContent()
    old.writable.close()
    hasOldFiles = true
    removeOldFiles()
  }

  /// Removes the stores that were replaced, as soon as no process reads them.
  func removeOldFiles() {
    if hasOldFiles { hasOldFiles = !folder.removeOthers(than: file.path) }
  }

  /// Reports the content that cannot be compared with the writer's digests.
  func noteContent() throws {
    let names = try file.writable.read { try $0.partialContentNames() }
    shared.change { $0.unverifiedContent = names }
  }

  /// Downloads a base and makes a store of it.
  static func install(
    _ base: BaseHead, _ folder: FollowerFolder, _ client: ReplicaClient,
    _ options: ReplicaFollowerOptions, floor: Floor
  ) async throws -> FollowerFile {
    try options.checkNames(in: base)
    let stem = "\(base.slot)-\(base.verity.description.prefix(16))"
    let sealed = "\(folder.incoming)/\(stem).sealed"
    let copy = "\(folder.incoming)/\(stem).copy"
    let target = folder.file(
      "\(base.slot)-\(String(UInt64.random(in: .min ... .max), radix: 16))\(FollowerFolder.suffix)")
    let report = options.onProgress ?? { _ in }
    try await BaseDownload(client: client, onProgress: report).sealedFile(of: base, to: sealed)
    options.onStep(.downloaded)
    report(ReplicaProgress(.copying, completed: 0))
    return try await BaseUpload.onThread {
      for name in [copy, copy + "-lock"] { unlink(name) }
      let file: FollowerFile
      do {
        file = try FollowerFile.make(
          at: copy, from: sealed, base, entities: options.followedEntities,
          conditions: options.conditions, floor: floor)
      } catch {
        // The bytes have the digests of the head, so another attempt would fail equally.
        for name in [sealed, copy, copy + "-lock"] { unlink(name) }
        throw error
      }
      file.writable.close()
      options.onStep(.copied)
      guard rename(copy, target) == 0 else { throw ReplicaError.system(errno, "rename", copy) }
      unlink(copy + "-lock")
      unlink(sealed)
      return try FollowerFile(target)
    }
  }

  // MARK: Registration

  /// Tells the writer how far a registered follower is.
  ///
  /// An old report only keeps more of the log, so new places are reported at intervals.
  func register() async throws {
    guard let id = options.id else { return }
    if let registered {
      let interval =
        registered.slot == position.slot ? Duration.seconds(3_600) : options.reportInterval
      if client.clock.elapsed(since: registered.at) < interval { return }
    }
    let mark = FollowerMark(
      id: id, slot: position.slot, lastWrite: position.lastWrite, time: client.clock.now())
    try await client.replace(.follower(id: id), .bytes(mark.bytes))
    registered = (position.slot, client.clock.instant())
    options.onStep(.registered)
  }

  // MARK: History

  /// Removes old history of the copy, at most once an hour.
  func purgeHistory() async throws {
    guard let age = options.historyRetention,
      purgedAt.map({ client.clock.elapsed(since: $0) >= .seconds(3_600) }) ?? true
    else { return }
    purgedAt = client.clock.instant()
    let date = client.clock.date - age.inSeconds
    try await file.writable.replaying(author: "replica", context: nil) { tx in
      _ = try tx.purgeHistory(before: date)
    }
  }
}
