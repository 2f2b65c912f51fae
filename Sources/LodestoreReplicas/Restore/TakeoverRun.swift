internal import EntityStore
internal import LodestoreFormat

/// The result of a takeover.
public struct ReplicaTakeoverReport: Sendable, Hashable {
  /// The path of the store that is the writer's now.
  public var path: String
  /// The slot of the fence.
  public var slot: UInt64
  /// The epoch that the fence began.
  public var epoch: UInt64
  /// The last write of the log.
  public var lastWrite: UInt64
}

extension RestoreRun {
  /// Brings a copy up to date, fences the former writer, and makes the copy the writer's store.
  ///
  /// - Parameter folder: The folder of the follower that has the copy; `nil` if the copy is new.
  func takeOver(
    with first: FollowerFile, folder: FollowerFolder?
  ) async throws -> ReplicaTakeoverReport {
    let file = first
    defer { file.writable.close() }
    let mark = try file.mark()
    guard mark.role == .follower else { throw ReplicaError.isWriter(file.path) }
    guard mark.replica == replica else {
      throw ReplicaError.otherReplica(file.path, client.place, mark.replica, replica)
    }
    if folder != nil { await registration.keep(after: mark.slot, lastWrite: mark.lastWrite) }
    guard let cursor = try await file.writable.read({ try $0.replicaCursor() }),
      cursor.entities == nil, cursor.conditions.isEmpty
    else {
      throw ReplicaError(
        .unsuitableStore,
        "cannot take over with '\(file.path)': it follows only some records; take over at a new "
          + "path")
    }
    let start = mark.position(of: replica)
    let known = try await file.writable.read { try $0.replayFacts() }
    try mark.requireUnchanged(file.path, lastWrite: known.lastWrite)
    let schema = known.schema
    var template = EntryHead(
      .fence, epoch: start.epoch + 1, slot: start.slot + 1,
      previous: start.slot == 0 ? nil : start.hash, store: replica, session: .random,
      lastWrite: start.lastWrite, time: client.clock.now(), schema: schema)
    template.writer = options.name.map(PackLimits.cut)
    // Most entries are applied before the fence, so that little is left to apply after it.
    let position = try await follow(file, from: start, mark.floor, to: nil)
    try await checkEnd(after: position, mark.floor)
    var machine = Takeover(position: position, floor: mark.floor, fence: template)
    let fence: ChainPosition
    switch try await client.run(&machine) {
    case .fenced(let position): fence = position
    case .collected: throw needsNewCopy(file.path, "the log was collected beyond it")
    case .refused(let error): throw ReplicaError(error)
    }
    options.onStep(.fenced)
    let end = try await follow(file, from: position, mark.floor, to: fence)
    guard end == fence else { throw needsNewCopy(file.path, "the schema has changed since") }
    let facts = try await file.writable.read { try $0.replayFacts() }
    try file.setMark(
      ReplicaMark(
        role: .writer, fence, localWrite: facts.lastWrite, floor: mark.floor,
        schema: facts.schema, digests: facts.digests), of: replica, entities: nil)
    options.onStep(.marked)
    return ReplicaTakeoverReport(
      path: file.path, slot: fence.slot, epoch: fence.epoch, lastWrite: fence.lastWrite)
  }

  /// The error for a copy that the log does not lead on.
  private func needsNewCopy(_ path: String, _ reason: String) -> ReplicaError {
    ReplicaError(
      .notKept,
      "cannot take over with '\(path)': \(reason); take over again at a new path, which begins at "
        + "the newest base")
  }

  /// Applies entries up to the end of the log, or up to a fence of this run.
  private func follow(
    _ file: FollowerFile, from start: ChainPosition, _ floor: Floor, to fence: ChainPosition?
  ) async throws -> ChainPosition {
    var cursor = FollowerCursor(store: replica, position: start, floor: floor, fence: fence)
    var position = start
    var pending: [LogEntry] = []
    let application = EntryApplication(
      file: file, store: replica, entities: nil, transactionSizeLimitInBytes: 256 << 20)
    while true {
      switch try await client.run(&cursor) {
      case .apply(let entries, let isEnd):
        pending += entries
        // A later takeover's entries are not applied here.
        if let fence { pending.removeAll { $0.head.slot > fence.slot } }
        let (all, begin) = (pending, position)
        if !all.isEmpty {
          let result = try await BaseUpload.onThread {
            try application.apply(all, after: begin, floor: floor)
          }
          position = result.position
          pending.removeAll { $0.head.slot <= position.slot }
        }
        if isEnd || position.slot == fence?.slot { return position }
        cursor.goOn()
      case .swap: throw needsNewCopy(file.path, "the log continues from a base")
      case .noBase(let slot):
        throw needsNewCopy(file.path, "the log continues from a base of slot \(slot)")
      case .refused(let error): throw ReplicaError(error)
      }
    }
  }
}
