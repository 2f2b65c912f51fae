internal import EntityStore
internal import LodestoreFormat

/// A copy of the replica's store that changes of the log are applied to.
struct FollowerFile: Sendable {
  let path: String
  /// The store that applies changes; it declares no entities.
  let writable: Store

  /// Opens an existing copy.
  /// - Parameter isNew: True for a file that this process has just written whole. The pages of such
  ///   a file are checked at the next opening alone.
  init(_ path: String, isNew: Bool = false) throws {
    self.path = path
    var options = StoreOptions()
    if isNew { options.trust = .none }
    options.access = .existing
    // Records are evicted by the writer, and the log has their removal.
    options.evictionInterval = nil
    writable = try Store(at: path, entities: [], options: options)
  }

  /// The store of the program, which nobody can write through.
  func readable(_ entities: [any Entity.Type], _ options: StoreOptions) throws -> Store {
    var options = options
    options.access = .readOnly
    return try Store(at: path, entities: entities, options: options)
  }

  // MARK: Made from a base

  /// Copies the sealed file of a base into a new store, and gives it the place after the base.
  ///
  /// The store gets a UUID of its own, because its history numbers the writes by itself. Tokens of
  /// the writer's history, and of other copies, are therefore refused.
  ///
  /// - Parameter path: A path at which nothing exists.
  static func make(
    at path: String, from sealed: String, _ base: BaseHead, role: ReplicaMark.Role = .follower,
    entities: [String]? = nil, conditions: [String: String] = [:], floor: Floor
  ) throws -> FollowerFile {
    var options = StoreOptions()
    options.access = .readOnly
    let source = try Store(at: sealed, entities: [], options: options)
    defer { source.close() }
    try source.copyUnsealed(to: path, isExact: true)
    let file = try FollowerFile(path, isNew: true)
    do {
      let facts = try file.writable.read { try $0.replayFacts() }
      guard facts.schema == base.schema.bytes, facts.digests.contentDigests == base.digests
      else {
        throw BaseDownload.Unusable(error: .wrongBytes(base.name(of: .file)))
      }
      let mark = ReplicaMark(
        role: role, base.position, localWrite: facts.lastWrite, floor: floor,
        schema: facts.schema)
      try file.writable.replaying(author: "replica", context: nil) { try $0.renewStoreID() }
      try file.setMark(mark, of: base.store, entities: nil)
      if let entities {
        try file.removeOthers(than: Set(entities), facts, base)
        try file.setMark(mark, of: base.store, entities: entities)
      }
      if !conditions.isEmpty {
        try file.setMark(mark, of: base.store, entities: entities, conditions: conditions)
      }
      return file
    } catch {
      file.writable.close()
      throw error
    }
  }

  /// Removes the records of all entities but the followed ones.
  private func removeOthers(
    than kept: Set<String>, _ facts: ReplayFacts, _ base: BaseHead
  ) throws {
    // Throws for unknown entities, and for relationships to those that are left out.
    let wanted = try writable.read { try $0.replayFacts(entities: kept) }
    let others = DynamicStore(writable).entities.filter { !kept.contains($0.name) }
    let write = max(base.lastWrite, 1)
    var step = ReplayStep(writes: write...write, time: base.time, author: nil, context: nil)
    step.replacedEntities = others.map(\.description.number).sorted()
    let end = ReplayEnd(
      storeID: base.store.bytes, after: base.lastWrite, last: base.lastWrite,
      schema: facts.schema, digests: wanted.digests)
    try writable.replaying(author: "replica", context: "other entities") { tx in
      try tx.replay([ReplayUnit(steps: [step], end: end)])
    }
  }

  /// Gives the copy its place, and removes the records that its conditions leave out.
  func setMark(
    _ mark: ReplicaMark, of store: UUIDBytes, entities: [String]?,
    conditions: [String: String] = [:]
  ) throws {
    try writable.replaying(author: "replica", context: nil) { tx in
      try tx.setReplicaCursor(
        ReplicaCursor(
          storeID: store.bytes, lastWrite: mark.lastWrite, entities: entities,
          conditions: conditions, mark: mark.bytes))
      try tx.removeUnmatchedRecords()
      // A base has the consumer of its writer, which would keep the copy's history for ever.
      if mark.role == .follower {
        try tx.setHistoryToken(nil, ofConsumer: ReplicaMark.consumer)
      }
    }
  }

  /// The store's place in the log.
  func mark() throws -> ReplicaMark {
    guard let mark = try ReplicaMark.of(writable) else { throw ReplicaError.noPlace(path) }
    return mark
  }
}

/// Applies entries of the log to a copy.
struct EntryApplication: Sendable {
  let file: FollowerFile
  let store: UUIDBytes
  let entities: [String]?
  let transactionSizeLimitInBytes: UInt64
  /// The memory of a step without its records; it counts for the size of a transaction.
  private static let stepSize: UInt64 = 512
  var conditions: [String: String] = [:]

  /// The last place, and the number of changes.
  struct Result: Sendable {
    var position: ChainPosition
    var changes: UInt64 = 0
    var time: Double?
  }

  /// Applies entries after a place, each unit of changes with its place in one transaction.
  ///
  /// Parts of a write whose last part is not among the entries are left for a later call.
  ///
  /// - Parameters:
  ///   - limit: The last write to apply; `nil` applies all.
  ///   - onBatch: Called after each transaction.
  /// - Returns: The place after the last whole entry.
  func apply(
    _ entries: [LogEntry], after start: ChainPosition, floor: Floor, through limit: UInt64? = nil,
    role: ReplicaMark.Role = .follower, onBatch: (Result) -> Void = { _ in }
  ) throws -> Result {
    var result = Result(position: start)
    var position = start
    // The place after the last entry without further parts.
    var whole = start
    var batch: [LogEntry] = []
    var wholeCount = 0
    var byteCount: UInt64 = 0
    func end() throws {
      guard wholeCount > 0 else { return }
      let entries = Array(batch[..<wholeCount])
      let (changes, time) = try commit(entries, whole, floor, limit, role)
      result.changes += changes
      result.position = whole
      result.time = time ?? result.time
      batch.removeSubrange(..<wholeCount)
      (wholeCount, byteCount) = (0, 0)
      onBatch(result)
    }
    for entry in entries {
      do { try position.advance(over: entry) } catch { throw ReplicaError(error) }
      // A fence ends unfinished writes: their parts count for nothing.
      if entry.head.kind == .fence { batch.removeSubrange(wholeCount...) }
      batch.append(entry)
      byteCount += entry.head.unpackedLength + entry.head.stepCount * Self.stepSize
      guard position.unfinished == nil else { continue }
      (whole, wholeCount) = (position, batch.count)
      if let limit, entry.head.lastWrite >= limit { break }
      if byteCount >= transactionSizeLimitInBytes { try end() }
    }
    try end()
    return result
  }

  /// Applies whole entries in one transaction; returns the number of changes, and the time of the
  /// last write.
  private func commit(
    _ entries: [LogEntry], _ position: ChainPosition, _ floor: Floor, _ limit: UInt64?,
    _ role: ReplicaMark.Role
  ) throws -> (changes: UInt64, time: Double?) {
    var units = try WriterOpening.reading { () throws(PackError) in
      try ReplayUnit.units(of: entries)
    }
    var time = entries.last?.head.time
    if let limit {
      units = units.filter { $0.end.after < limit }
      try units.checkCut(at: limit)
      units = units.map { $0.through(limit) }
      if entries.last.map({ $0.head.lastWrite > limit }) ?? false {
        // The heads of entries have the time of their last write, which is after the limit.
        let whole = entries.dropLast().last { !$0.head.part.continues }
        time = units.last?.steps.last?.time ?? whole?.head.time
      }
    }
    let schema = entries.last?.head.schema
    let mark = ReplicaMark(role: role, position, localWrite: 0, floor: floor, schema: schema)
    let (first, last) = (entries.first?.head.slot ?? 0, position.slot)
    let cursor = ReplicaCursor(
      storeID: store.bytes, lastWrite: position.lastWrite, entities: entities,
      conditions: conditions, mark: mark.bytes)
    let (applied, store) = (units, store)
    let changes = try file.writable.replaying(
      author: "replica", context: first == last ? "slot \(last)" : "slots \(first)-\(last)"
    ) { tx in
      var (changes, mark, cursor) = (UInt64(0), mark, cursor)
      // A later number shows that another program has written the copy. Changes move the number,
      // because their digests have been compared.
      if applied.isEmpty {
        let known = try tx.replicaCursor()
        mark.localWrite =
          try known.map { try ReplicaMark(reading: $0.mark, of: store).localWrite } ?? 0
      } else {
        mark.localWrite = try tx.historyToken().number + 1
        let counts = try tx.replay(applied)
        changes = UInt64(counts.records + counts.deletedRecords + counts.links)
      }
      cursor.mark = mark.bytes
      try tx.setReplicaCursor(cursor)
      return changes
    }
    return (changes, time)
  }
}

extension [ReplayUnit] {
  /// Checks that the state after a write can be made.
  ///
  /// - Throws: ``ReplicaError`` with the code `notKept` if a step has the write and later ones.
  func checkCut(at write: UInt64) throws {
    let step = lazy.flatMap(\.steps).first {
      $0.writes.contains(write) && $0.writes.upperBound > write
    }
    if let step { throw ReplicaError.together(step.writes, write) }
  }
}

extension ReplicaError {
  fileprivate static func together(
    _ writes: ClosedRange<UInt64>, _ wanted: UInt64
  ) -> ReplicaError {
    ReplicaError(
      .notKept,
      "cannot restore write \(wanted): the log has writes \(writes.lowerBound) to "
        + "\(writes.upperBound) together, because an entity keeps no images in its history; choose "
        + "write \(writes.lowerBound - 1) or \(writes.upperBound)")
  }
}
