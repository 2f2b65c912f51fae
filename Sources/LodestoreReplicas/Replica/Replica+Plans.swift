public import EntityStore
internal import LodestoreFormat

extension Replica {
  /// Compares a store with a replica as the opening of a writer does, and packs the changes since
  /// the last entry; changes nothing.
  ///
  /// - Throws: ``ReplicaError`` with the code with which ``writer(_:to:options:)`` would fail, such
  ///   as `fenced`, `behind` and `diverged`.
  public static func writerPlan(
    _ store: Store, to bucket: ReplicaStorage,
    options: ReplicaWriterOptions = ReplicaWriterOptions()
  ) async throws -> ReplicaPlan {
    try check(store)
    let client = bucket.client.giving(upAfter: options.openingFailureLimit)
    let opening = WriterOpening(
      store: store, client: client, session: .random,
      beginsNewReplica: options.beginsNewReplica, name: nil)
    guard let place = try await opening.compare() else {
      var plan = ReplicaPlan(.create, slot: 0, lastSlot: 0, lastWrite: 0)
      plan.byteCount = nil
      return plan
    }
    let position = place.position
    var plan = ReplicaPlan(
      .send, slot: place.mark?.slot ?? 0, lastSlot: position.slot, lastWrite: position.lastWrite)
    if !place.needsBase, position.slot > 0 {
      do {
        let unit = try await packed(store, place, options)
        // A fence ends the parts of a write whose other parts are lost.
        plan.entryCount =
          (unit.isEmpty ? 0 : unit.bodies.count) + (position.unfinished == nil ? 0 : 1)
        plan.byteCount = unit.isEmpty ? 0 : unit.bodies.reduce(0) { $0 + UInt64($1.bytes.count) }
        return plan
      } catch let error as ReplayError {
        switch error {
        case .expired, .otherSchema: break
        default: throw ReplicaError(error, store.path)
        }
      } catch let error as PackError {
        guard error.code == .tooLarge else { throw ReplicaError(error) }
      }
    }
    plan.action = .sendBase
    (plan.entryCount, plan.byteCount) = (1, nil)
    return plan
  }

  private static func packed(
    _ store: Store, _ place: WriterPlace, _ options: ReplicaWriterOptions
  ) async throws -> PackedUnit {
    let numbers = place.numbers
    var request = ReplayRequest(after: numbers.inStore(place.position.lastWrite))
    request.digests = place.digests
    let (changes, schema) = (request, place.schema)
    return try await store.read { snapshot in
      var changes = changes
      changes.schema = try schema ?? snapshot.replayFacts().schema
      return try PackedUnit.packing(
        snapshot, changes, numbers, level: options.packCompressionLevel, limits: options.unitLimits)
    }
  }

  /// The work that a follower would begin with; changes nothing.
  ///
  /// The call reads the log after the place of the folder's copy, and no base.
  ///
  /// - Throws: ``ReplicaError`` with the code with which ``follower(at:of:entities:options:)``
  ///   would fail.
  public static func followerPlan(
    at path: String, of bucket: ReplicaStorage,
    options: ReplicaFollowerOptions = ReplicaFollowerOptions()
  ) async throws -> ReplicaPlan {
    var options = options
    options.conditions = try options.checkedConditions()
    let client = bucket.client.giving(upAfter: options.failureLimit)
    let replica = try await FollowerLoop.info(client).store
    guard let file = try FollowerFolder(path).current else {
      let plan = ReplicaPlan(.download, slot: 0, lastSlot: 0, lastWrite: 0)
      return try await completed(
        plan, FollowerCursor(store: replica, position: nil, floor: .none), client)
    }
    let copy = try await PlannedCopy(file, options)
    guard copy.position.store == replica else {
      throw ReplicaError.otherReplica(file, client.place, copy.position.store, replica)
    }
    let position = copy.continues ? copy.position : nil
    let plan = ReplicaPlan(
      position == nil ? .replace : .apply, slot: copy.position.slot,
      lastSlot: copy.position.slot, lastWrite: copy.position.lastWrite)
    return try await completed(
      plan, FollowerCursor(store: replica, position: position, floor: copy.floor), client)
  }

  /// Throws if another program has written the copy of a follower.
  private static func requireUnchanged(_ path: String) async throws {
    let store = try Store(at: path, entities: [], options: .readOnly)
    defer { store.close() }
    let last = try await store.read { try $0.replayFacts().lastWrite }
    try ReplicaMark.of(store)?.requireUnchanged(path, lastWrite: last)
  }

  /// Adds the entries and the base that a follower would read.
  private static func completed(
    _ started: ReplicaPlan, _ start: FollowerCursor, _ client: ReplicaClient
  ) async throws -> ReplicaPlan {
    var (plan, cursor) = (started, start)
    var byteCount: UInt64 = 0
    while true {
      switch try await client.run(&cursor) {
      case .apply(let entries, let isEnd):
        plan.entryCount += entries.count
        byteCount += entries.reduce(0) { $0 + UInt64($1.bytes.count) }
        plan.lastSlot = cursor.position.slot
        plan.lastWrite = cursor.position.lastWrite
        if isEnd {
          plan.byteCount = byteCount
          return plan
        }
      case .swap(let base):
        if plan.action == .apply { plan.action = .replace }
        plan.baseSlot = base.slot
        byteCount += base.packed.length + base.frames.length
      case .noBase: throw ReplicaError.noBase(client.place)
      case .refused(let error): throw ReplicaError(error)
      }
      cursor.goOn()
    }
  }

  /// The work of a takeover; changes nothing.
  ///
  /// - Throws: ``ReplicaError`` with the code with which ``takeOver(_:at:options:)`` would fail,
  ///   such as `busy`.
  public static func takeOverPlan(
    _ bucket: ReplicaStorage, at path: String,
    options: ReplicaRestoreOptions = ReplicaRestoreOptions()
  ) async throws -> ReplicaPlan {
    var options = options
    // The plan reports the lease at once.
    options.waitsForLease = false
    let run = try await run(bucket, options)
    try await run.respectLease(at: bucket.clock.now())
    if let file = try FollowerFolder(path).current {
      try await requireUnchanged(file)
      var follower = ReplicaFollowerOptions()
      follower.failureLimit = options.failureLimit
      return try await followerPlan(at: path, of: bucket, options: follower)
    }
    try requireFree(path)
    let report = try await run.plan(for: .latest)
    var plan = ReplicaPlan(
      .download, slot: 0, lastSlot: report.slot, lastWrite: report.lastWrite)
    plan.baseSlot = report.baseSlot
    plan.entryCount = report.entryCount
    plan.byteCount = report.byteCount
    return plan
  }
}

/// The copy that a follower's folder has, as the opening of a follower finds it.
private struct PlannedCopy {
  let position: ChainPosition
  let floor: Floor
  /// Whether the copy has the wanted conditions; otherwise a new copy replaces it.
  let continues: Bool

  /// - Parameter options: The options with checked conditions.
  init(_ path: String, _ options: ReplicaFollowerOptions) async throws {
    let store = try Store(at: path, entities: [], options: .readOnly)
    defer { store.close() }
    guard let mark = try ReplicaMark.of(store),
      let cursor = try await store.read({ try $0.replicaCursor() })
    else { throw ReplicaError.noPlace(path) }
    guard mark.role == .follower else { throw ReplicaError.isWriter(path) }
    guard cursor.entities.map(Set.init) == options.followedEntities.map(Set.init) else {
      throw ReplicaError.otherEntities(path)
    }
    position = mark.position(of: UUIDBytes(bytes: cursor.storeID))
    floor = mark.floor
    continues = cursor.conditions == options.conditions
  }
}

extension ReplicaError {
  static func noPlace(_ path: String) -> ReplicaError {
    ReplicaError(
      .damaged,
      "cannot use '\(path)': it has no place in a replica's log; delete the file to begin again")
  }

  static func otherEntities(_ path: String) -> ReplicaError {
    ReplicaError(
      .unsuitableStore,
      "cannot follow with '\(path)': it follows other entities; use another folder, or delete "
        + "this one to begin again")
  }
}
