internal import EntityStore
internal import LodestoreFormat

/// The place from which a writer writes on.
struct WriterPlace: Sendable {
  var position: ChainPosition
  var floor: Floor
  /// The number of a write in the store's history, and its number in the log.
  var numbers: WriteNumbers
  var digests: ReplayDigests?
  var schema: [UInt8]?
  /// The mark that the store has; `nil` before the first one.
  var mark: ReplicaMark?
  /// Whether a base must be written before anything else, because followers wait for one.
  var needsBase: Bool
}

/// Converts between numbers of writes in the store's history and in the log.
///
/// The numbers differ in a store that was a follower before it took over.
struct WriteNumbers: Sendable, Hashable {
  var local: UInt64
  var log: UInt64

  func inLog(_ number: UInt64) -> UInt64 { number &- local &+ log }
  func inStore(_ number: UInt64) -> UInt64 { number &- log &+ local }

  /// The number in the store of the write before any number; 0 if the store has no such write.
  func inStore(before number: UInt64) -> UInt64 {
    if local <= log { return number > log - local ? number - (log - local) - 1 : 0 }
    let (sum, isTooLarge) = number.addingReportingOverflow(local - log)
    return isTooLarge ? .max : sum - 1
  }
}

/// Compares a store with a replica before the store writes to it.
struct WriterOpening: Sendable {
  let store: Store
  let client: ReplicaClient
  let session: UUIDBytes
  /// Whether the store may leave its replica and begin a new one.
  var beginsNewReplica = false
  let name: String?

  /// Checks the storage, creates the replica if needed, and finds the place to write on.
  func open(probing: Bool) async throws -> (UUIDBytes, WriterPlace) {
    try await BaseUpload.onThread { [store] in
      guard store.seal == nil else { throw ReplicaError.sealedStore(store.path) }
      try store.read { try $0.checkReplayable() }
    }
    let facts = try await store.read { try $0.replayFacts() }
    let mark = try ReplicaMark.of(store)
    if let mark, mark.role == .follower { throw ReplicaError.isFollower(store.path) }
    let own = UUIDBytes(bytes: facts.storeID)
    // Nothing is written into the storage of another replica, not even the probe.
    let known = try await replica(of: own, mark)
    if probing { try await probe() }
    let found = if let known { known } else { try await createdReplica(for: own, mark) }
    return (found.id, try await start(found.id, facts, found.mark))
  }

  /// Compares the store with a replica that may exist, and changes nothing.
  ///
  /// - Returns: The place to write on; `nil` if a writer would create the replica.
  @discardableResult
  func compare() async throws -> WriterPlace? {
    let facts = try await store.read { try $0.replayFacts() }
    let mark = try ReplicaMark.of(store)
    if let mark, mark.role == .follower { throw ReplicaError.isFollower(store.path) }
    guard let found = try await replica(of: UUIDBytes(bytes: facts.storeID), mark) else {
      return nil
    }
    let isEmpty = try await isEmpty
    return isEmpty ? nil : try await start(found.id, facts, found.mark)
  }

  private func probe() async throws {
    do throws(StorageProbe.Failure) {
      var probe = StorageProbe()
      probe.wait = { [clock = client.clock] in try await clock.wait(after: $0, $1) }
      try await probe.check(client.storage)
    } catch {
      switch error {
      case .untrustworthy(let broken):
        throw ReplicaError(.untrustworthyStorage, broken.message, cause: broken)
      case .storage(let error): throw ReplicaClient.converted(error)
      }
    }
  }

  static func reading<R>(_ body: () throws(PackError) -> R) throws -> R {
    do throws(PackError) { return try body() } catch { throw ReplicaError(error) }
  }

  // MARK: Comparison with the log

  private func start(
    _ replica: UUIDBytes, _ facts: ReplayFacts, _ mark: ReplicaMark?
  ) async throws -> WriterPlace {
    let numbers = WriteNumbers(local: mark?.localWrite ?? 0, log: mark?.lastWrite ?? 0)
    let lastWrite = numbers.inLog(facts.lastWrite)
    var place = WriterPlace(
      position: mark?.position(of: replica) ?? .start(of: replica), floor: mark?.floor ?? .none,
      numbers: numbers, digests: mark?.digests, schema: mark?.schema, mark: mark, needsBase: false)
    var machine = WriterStart(
      local: LocalPosition(position: place.position, lastWrite: lastWrite), floor: place.floor)
    var adopted = AdoptedEntries()
    while true {
      switch try await client.run(&machine) {
      case .compare(let entry):
        let evidence = try await evidence(of: entry, numbers, mark)
        adopted.note(entry, evidence)
        if evidence != .none {
          place.needsBase = place.needsBase || entry.head.kind == .base
          place.digests = nil
          place.schema = entry.head.schema
        }
        machine.receive(isOwn: evidence != .none)
      case .ready(let position, _):
        try requireStore(of: adopted, at: position, facts, lastWrite: lastWrite, mark)
        place.position = position
        place.floor = machine.floor
        return place
      case .fenced(let epoch, let after):
        guard let position = try await endOfOwnFence(epoch, after: after, mark) else {
          throw ReplicaError.fenced(
            store.path, client.place, by: epoch,
            unshipped: Self.range(after.lastWrite + 1, lastWrite), slot: after.slot + 1)
        }
        try requireStore(of: adopted, at: position, facts, lastWrite: lastWrite, mark)
        place.position = position
        return place
      case .behind(let chain, let local):
        throw ReplicaError(
          .behind,
          "cannot replicate '\(store.path)' to '\(client.place)': the store ends with write "
            + "\(local), and the replica has its writes up to \(chain), so the file is an older "
            + "copy; restore from the replica under a new path, and take over")
      case .diverged(let first, let last):
        throw ReplicaError.diverged(
          store.path, client.place, writes: Self.range(first, last), slot: place.position.slot)
      case .refused(let error): throw ReplicaError(error)
      }
    }
  }

  static func range(_ first: UInt64, _ last: UInt64) -> ClosedRange<UInt64>? {
    first <= last ? first...last : nil
  }

  /// The place after a fence of this store; `nil` if another store has written the fence.
  ///
  /// A store fences itself to abandon the parts of a write. The writer may end before it records
  /// the place after the fence.
  private func endOfOwnFence(
    _ epoch: UInt64, after position: ChainPosition, _ mark: ReplicaMark?
  ) async throws -> ChainPosition? {
    let slot = position.slot + 1
    guard let bytes = try await client.object(.entry(slot: slot)),
      let entry = try? LogEntry(reading: bytes, slot: slot), entry.head.kind == .fence,
      entry.head.epoch == epoch, isOwnSession(entry.head.session, mark)
    else { return nil }
    return try Self.reading { () throws(PackError) in
      var position = position
      try position.advance(over: entry)
      return position
    }
  }
}

extension UUIDBytes {
  /// Reads 16 bytes.
  init(bytes: [UInt8]) {
    self.init(
      high: bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
      low: bytes.dropFirst(8).prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
  }

  /// Draws a random number for a session.
  static var random: UUIDBytes {
    UUIDBytes(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
  }
}

extension ReplicaError {
  static func sealedStore(_ path: String) -> ReplicaError {
    ReplicaError(
      .unsuitableStore,
      "cannot replicate '\(path)': it is a sealed file, which nobody writes; publish it as a "
        + "dataset instead")
  }

  static func isFollower(_ path: String) -> ReplicaError {
    ReplicaError(
      .unsuitableStore,
      "cannot replicate '\(path)': it is the copy of a follower; take over by Replica.takeOver, or "
        + "by 'kvdump replica takeover'")
  }

  /// The numbers of writes in words.
  private static func words(_ writes: ClosedRange<UInt64>) -> String {
    writes.lowerBound == writes.upperBound
      ? "write \(writes.lowerBound)" : "writes \(writes.lowerBound) to \(writes.upperBound)"
  }

  static func fenced(
    _ path: String, _ place: String, by epoch: UInt64?, unshipped: ClosedRange<UInt64>?,
    slot: UInt64?
  ) -> ReplicaError {
    let writer = epoch.map { "the writer of epoch \($0) has" } ?? "another writer has"
    let loss =
      unshipped.map {
        "; no replica has \(words($0)) of this store: export from there by "
          + "Replica.exportDiverged, or by 'kvdump replica export-diverged'"
      } ?? ""
    return ReplicaError(
      .fenced,
      "cannot replicate '\(path)' to '\(place)': \(writer) taken over\(loss); follow the replica "
        + "with a new copy", slot: slot, divergedWrites: unshipped)
  }

  static func diverged(
    _ path: String, _ place: String, writes: ClosedRange<UInt64>?, slot: UInt64?
  ) -> ReplicaError {
    let which = writes.map(words) ?? "the last writes"
    return ReplicaError(
      .diverged,
      "cannot replicate '\(path)' to '\(place)': \(which) of the store and the replica differ; "
        + "export the store's by Replica.exportDiverged, or by 'kvdump replica "
        + "export-diverged', and begin again with a restored copy", slot: slot,
      divergedWrites: writes)
  }

  /// Converts an error of the history's changes.
  init(_ error: ReplayError, _ path: String) {
    let code: Code =
      switch error {
      case .diverged, .gap: .diverged
      case .otherStore: .otherStore
      case .behind: .behind
      case .damaged, .noCursor: .damaged
      default: .unsuitableStore
      }
    let message =
      switch error {
      case .unrecorded(let names):
        "cannot replicate '\(path)': \(names.joined(separator: ", ")) "
          + "\(names.count == 1 ? "keeps" : "keep") no history; open the store with "
          + "StoreOptions.history set to .images, or use 'kvdump replicate --record-history'"
      case .unknownEntity(let name):
        "cannot follow with '\(path)': the replica has no entity '\(name)'; check the name and its "
          + "case"
      default: "cannot use '\(path)': \(error.message)"
      }
    self.init(code, message, cause: error)
  }
}
