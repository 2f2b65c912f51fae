internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Reads the changes after a write from the history and the records of one transaction.
struct ReplaySource {
  /// One write with all parts of its report.
  private struct Write {
    let number: UInt64
    var header: HistoryPart.Header?
    var changes: [HistoryPart.Change] = []
    var links: [HistoryPart.Links] = []

    /// The number under which the images of the write are stored.
    var image: UInt64 { header?.images ?? number }
  }

  let request: ReplayRequest
  let core: TransactionCore
  let scope: ReplayScope
  private let log: HistoryLog
  private let last: UInt64
  private var values: [EntityNumber: ValuesAfter] = [:]
  /// The links whose places the end of the unit has, by relationship.
  private var placed = ReplayPlacing()

  init(_ request: ReplayRequest, _ core: TransactionCore) throws {
    self.request = request
    self.core = core
    scope = try ReplayScope(request.entities, core)
    log = HistoryLog(core)
    last = try log.lastNumber()
    let storeID = try log.storeIDBytes()
    if let expected = request.storeID, expected != storeID {
      throw ReplayError.otherStore(expected: expected, found: storeID)
    }
    guard request.after <= last else {
      throw ReplayError.behind(asked: request.after, last: last)
    }
    if let purged = try log.purged(), request.after < purged.number {
      throw ReplayError.expired(after: request.after, firstKept: purged.number + 1)
    }
    if let expected = request.schema, try core.schemaFingerprint() != expected {
      throw ReplayError.otherSchema
    }
    try scope.check()
  }

  mutating func read(_ body: (ReplayStep) throws -> Void) throws -> ReplayEnd {
    let survey = try ReplaySurvey(after: request.after, log, scope)
    if survey.restarted.isEmpty, survey.hasImages, !request.isNet {
      try forEachWrite(survey, body)
    } else {
      try readTogether(survey, body)
    }
    return try end()
  }

  private func end() throws -> ReplayEnd {
    var end = ReplayEnd(
      storeID: try log.storeIDBytes(), after: request.after, last: last,
      schema: try core.schemaFingerprint(),
      digests: try scope.digests(core, since: request.digests))
    // A write that inserts and deletes a record raises the next id without a report.
    for entity in scope.entities {
      end.nextIDs[entity.number] = try core.storedNextID(of: entity)
    }
    end.places = try placed.places(scope, core)
    end.buckets = try changedBuckets(end.digests?.buckets ?? [:])
    return end
  }

  // MARK: One step for each write

  private mutating func forEachWrite(
    _ survey: ReplaySurvey, _ body: (ReplayStep) throws -> Void
  ) throws {
    var write: Write?
    var source = self
    try survey.forEachPart(of: log) { number, part in
      var whole = write ?? Write(number: number)
      write = nil
      if whole.number != number {
        try source.tell(whole, survey, body)
        whole = Write(number: number)
      }
      whole.header = part.header ?? whole.header
      whole.changes += part.changes
      whole.links += part.links
      write = whole
    }
    if let write { try source.tell(write, survey, body) }
    self = source
  }

  private mutating func tell(
    _ write: Write, _ survey: ReplaySurvey, _ body: (ReplayStep) throws -> Void
  ) throws {
    var builder = ReplayStepBuilder(
      writes: write.number...write.number, write.header, byteLimit: request.byteLimit)
    for change in write.changes where scope.has(change.entity) {
      guard let entity = core.schema.entity(change.entity) else { continue }
      if change.kind == .deleted {
        builder.delete(change.ids, of: entity)
        continue
      }
      if change.kind == .inserted { builder.noteInserted(change.ids, of: entity) }
      let placesLinks = placed.concerns(change, entity, core)
      let values = try values(of: entity)
      values.beginGroup(hasImages: survey.changed.contains(entity.number))
      for id in change.ids {
        let record = try values.value(of: id, after: write.image)
        if placesLinks { try placed.note(id, record, entity, core) }
        builder.put(id, record, of: entity)
        if builder.isFull { try body(builder.takeFull()) }
      }
    }
    for group in write.links where scope.has(relationship: group.relationship) {
      placed.note(group)
      builder.add(group)
    }
    if let step = builder.last() { try body(step) }
  }

  private mutating func values(of entity: StoredEntity) throws -> ValuesAfter {
    if let known = values[entity.number] { return known }
    let made = try ValuesAfter(entity, core)
    values[entity.number] = made
    return made
  }

  // MARK: One step for all writes

  private mutating func readTogether(
    _ survey: ReplaySurvey, _ body: (ReplayStep) throws -> Void
  ) throws {
    var together = ReplayTogether(survey, scope, core)
    try survey.forEachPart(of: log) { _, part in together.note(part, &placed) }
    var builder = ReplayStepBuilder(
      writes: (request.after + 1)...max(last, request.after + 1), together.header,
      byteLimit: request.byteLimit)
    try together.read(into: &builder, &placed, body)
    if let step = builder.last() { try body(step) }
  }

  // MARK: Buckets

  /// The content of the buckets with other digests than the copy has.
  private func changedBuckets(_ digests: [String: [UInt8]]) throws -> [ReplayBucket] {
    let known = request.digests?.buckets ?? [:]
    var buckets = known.keys.filter { digests[$0] == nil }.map { ReplayBucket(name: $0, pairs: []) }
    for (name, digest) in digests.sorted(by: { $0.key < $1.key }) where known[name] != digest {
      var bucket = ReplayBucket(name: name, pairs: [])
      var byteCount = 0
      let prefix = BucketKey.prefix(bucket: name)
      try core.forEachBucketPair(prefix: prefix) { key, body in
        let value = try Checksum.unsealed(key: key, body: body)
        byteCount += key.count - prefix.count + value.count
        if byteCount > request.bucketLimit { return }
        bucket.pairs.append(
          ReplayBucket.Pair(key: Array(key.dropFirst(prefix.count)), value: Array(value)))
      }
      guard byteCount <= request.bucketLimit else {
        throw ReplayError.bucketTooLarge(
          name, byteCount: byteCount, limit: request.bucketLimit)
      }
      buckets.append(bucket)
    }
    return buckets.sorted { $0.name < $1.name }
  }
}

/// The facts about all writes of a unit that decide how they are read.
struct ReplaySurvey {
  /// The entities whose records may have changed without a report.
  private(set) var restarted: Set<EntityNumber> = []
  /// Whether each write kept images of the records that it changed.
  private(set) var hasImages = true
  /// The entities of which a write updated or deleted records.
  private(set) var changed: Set<EntityNumber> = []
  private let after: UInt64
  /// The parts of the writes, so that few writes are decoded once; `nil` if they are too large.
  private var parts: [(number: UInt64, part: HistoryPart)]? = []

  /// The number of parts, of runs of ids, and of links that stay in memory.
  private static let heldLimit = 64 << 10

  init(after: UInt64, _ log: HistoryLog, _ scope: ReplayScope) throws {
    self.after = after
    var image: UInt64 = 0
    var heldCount = 0
    try log.forEachPart(from: after + 1) { number, _, part in
      if parts != nil {
        heldCount += part.changes.reduce(1) { $0 + $1.ids.ranges.count }
        heldCount += part.links.reduce(0) { $0 + $1.pairs.count }
        if heldCount > Self.heldLimit { parts = nil }
        parts?.append((number, part))
      }
      if let header = part.header {
        image = header.images ?? number
        // If an entity had no records when its history began, the history reports no restart.
        restarted.formUnion((header.untold ?? []).filter(scope.has))
      }
      for change in part.changes where scope.has(change.entity) {
        switch change.kind {
        case .restarted: restarted.insert(change.entity)
        case .updated, .deleted:
          changed.insert(change.entity)
          // A write has images of all records of an entity that it changed, or of none.
          guard hasImages, let id = change.ids.ranges.first?.lowerBound else { continue }
          let key = HistoryKey.image(entity: change.entity, id: id, write: image)
          hasImages = try log.image(key) != nil
        case .inserted: break
        }
      }
      return true
    }
  }

  /// Visits the parts of all writes again.
  func forEachPart(
    of log: HistoryLog, _ body: (_ number: UInt64, _ part: HistoryPart) throws -> Void
  ) throws {
    if let parts { return try parts.forEach(body) }
    try log.forEachPart(from: after + 1) { number, _, part in
      try body(number, part)
      return true
    }
  }
}

/// Builds the steps of one write, which continues as another step after a limit of bytes.
struct ReplayStepBuilder {
  private let empty: ReplayStep
  private(set) var step: ReplayStep
  private var byteCount = 0
  private var isContinued = false
  private let byteLimit: Int

  init(writes: ClosedRange<UInt64>, _ header: HistoryPart.Header?, byteLimit: Int) {
    step = ReplayStep(
      writes: writes, time: header?.time ?? 0, author: header?.author, context: header?.context)
    empty = step
    self.byteLimit = byteLimit
  }

  var isFull: Bool { byteCount >= byteLimit }

  /// Returns the full step, and begins the next one.
  mutating func takeFull() -> ReplayStep {
    step.continues = true
    isContinued = true
    defer { step = empty }
    byteCount = 0
    return step
  }

  /// Returns the last step; `nil` when the writes change nothing.
  func last() -> ReplayStep? { step.isEmpty && !isContinued ? nil : step }

  /// Notes entities and relationships of which the step has all records or links.
  mutating func replace(_ entities: [EntityNumber], _ relationships: [UInt32]) {
    step.replacedEntities = entities
    step.replacedRelationships = relationships
  }

  mutating func put(_ id: UInt64, _ record: ByteView, of entity: StoredEntity) {
    if step.records.last?.entity != entity.number || step.records.last?.ids.last ?? 0 >= id {
      step.records.append(ReplayStep.Records(of: entity.number))
    }
    step.records[step.records.count - 1].append(id, record)
    byteCount += record.count + 8
  }

  mutating func delete(_ ids: IDRuns, of entity: StoredEntity) {
    if !ids.isEmpty { step.deleted.append(ReplayStep.Deleted(entity: entity.number, ids: ids)) }
  }

  mutating func noteInserted(_ ids: IDRuns, of entity: StoredEntity) {
    guard let end = ids.ranges.last?.upperBound else { return }
    step.nextIDs[entity.number] = max(end, step.nextIDs[entity.number] ?? 0)
  }

  mutating func add(_ links: HistoryPart.Links) { step.links.append(links) }
}

/// Reads the values that records of one entity had after a write.
private final class ValuesAfter {
  private let entity: StoredEntity
  private let records: Cursor
  private let images: Cursor?
  /// The first record at or after the last asked one that has an image; `nil` when unknown.
  private var nextWithImage: UInt64?

  init(_ entity: StoredEntity, _ core: TransactionCore) throws {
    self.entity = entity
    records = try Cursor(entity.records, in: core.transaction)
    images = try core.tree(.history).map { try Cursor($0, in: core.transaction) }
  }

  /// Begins a group of calls with ascending ids.
  ///
  /// - Parameter hasImages: Whether a record of the entity may have a later image.
  func beginGroup(hasImages: Bool) { nextWithImage = hasImages ? nil : .max }

  /// The record after the write whose images have the number `image`.
  ///
  /// The bytes are valid until the next call.
  func value(of id: UInt64, after image: UInt64) throws -> ByteView {
    if let found = try self.image(of: id, after: image) { return found }
    guard try records.seek(id) else {
      throw StoreError.damagedHistory(
        FormatError("\(entity.name) \(id) is gone without an image", .historyAllKept))
    }
    return records.value
  }

  private func image(of id: UInt64, after number: UInt64) throws -> ByteView? {
    guard let images else { return nil }
    if let next = nextWithImage, next > id { return nil }
    let key = HistoryKey.image(entity: entity.number, id: id, write: number + 1)
    guard try key.bytes._withBytes({ try images.seek(atOrAfter: $0) }),
      case .image(entity.number, let found, _)? = HistoryKey(images.key)
    else {
      nextWithImage = .max
      return nil
    }
    nextWithImage = found
    return found == id ? images.value : nil
  }
}
