internal import EntityStore
internal import LodestoreFormat

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

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
}

/// Compares a store with a replica before the store writes to it.
struct WriterOpening: Sendable {
  let store: Store
  let client: ReplicaClient
  let session: UUIDBytes
  /// The session before the one that the store's mark has, whose requests may arrive late.
  var earlierSession: UUIDBytes?
  let name: String?
  let now: @Sendable () -> Double

  /// Checks the storage, creates the replica if needed, and finds the place to write on.
  func open(probing: Bool) async throws -> (UUIDBytes, WriterPlace) {
    try await BaseUpload.onThread { [store] in
      guard store.seal == nil else { throw ReplicaError.sealedStore(store.path) }
      try store.read { try $0.checkReplayable() }
    }
    if probing { try await probe() }
    let facts = try await store.read { try $0.replayFacts() }
    let own = UUIDBytes(bytes: facts.storeID)
    var mark = try ReplicaMark.of(store)
    if let mark, mark.role == .follower { throw ReplicaError.isFollower(store.path) }
    try requireOwn(try await info(of: own), own)
    // An empty storage begins a new replica, whatever replica the store had before.
    if mark != nil {
      let isEmpty = try await isEmpty
      if isEmpty { mark = nil }
    }
    return (own, try await start(own, facts, mark))
  }

  /// Compares the store with a replica that may exist, and changes nothing.
  func compare() async throws {
    let facts = try await store.read { try $0.replayFacts() }
    let own = UUIDBytes(bytes: facts.storeID)
    let mark = try ReplicaMark.of(store)
    if let mark, mark.role == .follower { throw ReplicaError.isFollower(store.path) }
    guard let info = try await storedInfo() else { return }
    try requireOwn(info, own)
    let isEmpty = try await isEmpty
    if !isEmpty { _ = try await start(own, facts, mark) }
  }

  private func requireOwn(_ info: ReplicaInfo, _ own: UUIDBytes) throws {
    guard info.store == own else {
      throw ReplicaError(
        .otherStore,
        "cannot replicate '\(store.path)' to '\(client.place)': the replica belongs to store "
          + "\(info.store.text), and this store is \(own.text); use another prefix")
    }
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
      case .storage(let error): throw ReplicaError(error)
      }
    }
  }

  /// Reads the object that names the replica's store, or creates it.
  private func info(of own: UUIDBytes) async throws -> ReplicaInfo {
    let new = ReplicaInfo(store: own, createdAt: now())
    if try await client.create(.info, new.bytes) { return new }
    guard let found = try await storedInfo() else { throw ReplicaError.missing(.info) }
    return found
  }

  private func storedInfo() async throws -> ReplicaInfo? {
    guard let bytes = try await client.object(.info) else { return nil }
    return try Self.reading { () throws(PackError) in
      try ReplicaInfo(reading: bytes, named: ReplicaName.info.text)
    }
  }

  static func reading<R>(_ body: () throws(PackError) -> R) throws -> R {
    do throws(PackError) { return try body() } catch { throw ReplicaError(error) }
  }

  private var isEmpty: Bool {
    get async throws {
      guard try await client.entries(in: .log).isEmpty else { return false }
      return try await client.entries(in: .base).isEmpty
    }
  }

  // MARK: Comparison with the log

  private func start(
    _ own: UUIDBytes, _ facts: ReplayFacts, _ mark: ReplicaMark?
  ) async throws -> WriterPlace {
    let numbers = WriteNumbers(local: mark?.localWrite ?? 0, log: mark?.lastWrite ?? 0)
    let lastWrite = numbers.inLog(facts.lastWrite)
    var place = WriterPlace(
      position: mark?.position(of: own) ?? .start(of: own), floor: mark?.floor ?? .none,
      numbers: numbers, digests: mark?.digests, schema: mark?.schema, mark: mark, needsBase: false)
    var machine = WriterStart(
      local: LocalPosition(position: place.position, lastWrite: lastWrite), floor: place.floor)
    while true {
      switch try await client.run(&machine) {
      case .compare(let entry):
        let isOwn = try await isOwn(entry, numbers, mark)
        if isOwn {
          place.needsBase = place.needsBase || entry.head.kind == .base
          place.digests = nil
          place.schema = entry.head.schema
        }
        machine.receive(isOwn: isOwn)
      case .ready(let position, _):
        place.position = position
        place.floor = machine.floor
        return place
      case .fenced(let epoch, let after):
        if let fence = try await ownFence(after: after, epoch: epoch, mark) {
          // This store has fenced itself to abandon the parts of a write, and was stopped.
          place.position = try Self.reading { () throws(PackError) in
            var position = after
            try position.advance(over: fence)
            return position
          }
          return place
        }
        throw ReplicaError.fenced(
          store.path, client.place, by: epoch,
          unshipped: Self.range(after.lastWrite + 1, lastWrite), slot: after.slot + 1)
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

  private func ownFence(
    after: ChainPosition, epoch: UInt64, _ mark: ReplicaMark?
  ) async throws -> LogEntry? {
    let slot = after.slot + 1
    guard let bytes = try await client.object(.entry(slot: slot)),
      let entry = try? LogEntry(reading: bytes, slot: slot)
    else { return nil }
    return entry.head.kind == .fence && entry.head.epoch == epoch
      && isOwnSession(entry.head.session, mark) ? entry : nil
  }

  private func isOwnSession(_ session: UUIDBytes, _ mark: ReplicaMark?) -> Bool {
    session == mark?.session || session == earlierSession
  }

  /// Returns whether the store has written an entry that its mark does not have yet.
  ///
  /// The writes of a pack must be those of the store's history: numbers, times and authors.
  private func isOwn(
    _ entry: LogEntry, _ numbers: WriteNumbers, _ mark: ReplicaMark?
  ) async throws -> Bool {
    let steps = try Self.reading { () throws(PackError) in
      entry.head.kind == .pack ? try entry.steps() : []
    }
    // Entries without a whole write have nothing to compare but the session.
    if steps.allSatisfy(\.continues) { return isOwnSession(entry.head.session, mark) }
    return try await store.read { snapshot in
      for step in steps where !step.continues {
        let number = numbers.inStore(step.writes.upperBound)
        let token = try snapshot.historyToken(number: number)
        var found: HistoryWrite?
        do {
          try snapshot.forEachWrite(.write(token).withoutChanges()) { write, stop in
            found = write
            stop = true
          }
        } catch let error as StoreError {
          guard error.code == .expiredHistory || error.code == .invalidQuery else { throw error }
          return false
        }
        guard let found, found.time.timeIntervalSinceReferenceDate == step.time,
          found.author == step.author, found.contextName == step.context
        else { return false }
      }
      return true
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

  static func fenced(
    _ path: String, _ place: String, by epoch: UInt64?, unshipped: ClosedRange<UInt64>?,
    slot: UInt64?
  ) -> ReplicaError {
    let writer = epoch.map { "the writer of epoch \($0) has" } ?? "another writer has"
    let loss =
      unshipped.map {
        "; writes \($0.lowerBound) to \($0.upperBound) of this store are in no replica: export "
          + "them by Replica.exportDiverged, or by 'kvdump replica export-diverged'"
      } ?? ""
    return ReplicaError(
      .fenced,
      "cannot replicate '\(path)' to '\(place)': \(writer) taken over\(loss); follow the replica "
        + "with a new copy", slot: slot, divergedWrites: unshipped)
  }

  static func diverged(
    _ path: String, _ place: String, writes: ClosedRange<UInt64>?, slot: UInt64?
  ) -> ReplicaError {
    let which = writes.map { "writes \($0.lowerBound) to \($0.upperBound)" } ?? "the last writes"
    return ReplicaError(
      .diverged,
      "cannot replicate '\(path)' to '\(place)': \(which) of the store are not those of the "
        + "replica; export them by Replica.exportDiverged, or by 'kvdump replica "
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
    self.init(code, "cannot use '\(path)': \(error.message)", cause: error)
  }
}
