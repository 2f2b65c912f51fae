internal import LMDB
internal import LodestoreFormat

extension DynamicStore {
  /// Lets all entities without a history record one with images from now on, in one transaction.
  ///
  /// The setting in the file applies to every program that writes it. Entities that have a history
  /// keep their setting.
  ///
  /// - Returns: The names of the entities that begin a history, in the order of their numbers.
  package func beginHistory() throws -> [String] {
    let names = try read { $0.entities.filter { !$0.keepsHistory }.map(\.description.name) }
    let declared = try names.map { name in
      var entity = try DeclaredEntity(name: name, attributes: [], indexes: [], isPartial: true)
      entity.history = .kept(images: true, preserved: [])
      return entity
    }
    if !declared.isEmpty { try declare(declared) }
    return names
  }

  /// Calls `body` at once, and again after commits of any process, until it returns false.
  ///
  /// Runs on the calling thread. Commits made while `body` runs are merged into one call.
  package func forEachCommit(_ body: () throws -> Bool) throws {
    let watch = FileWatch(core.environment) {}
    var last: UInt64?
    while core.environment.newestCommit != nil {
      // The number is taken from a read. The number in the file may already belong to a commit that
      // is still being written, which no read sees.
      let newest = try core.read { $0.commitNumber.rawValue }
      if newest != last {
        last = newest
        guard try body() else { return }
      } else if let watch {
        watch.wait()
      } else {
        return
      }
    }
  }
}

extension DynamicSnapshot {
  /// The number of the commit that the snapshot shows.
  package var commitNumber: UInt64 { core.commitNumber.rawValue }

  /// The record before a write updated or deleted it; `nil` for an insert, and without an image.
  package func record(before change: HistoryChange) throws(StoreError) -> DynamicRecord? {
    guard change.kind != .inserted,
      let entity = core.schema.entity(EntityNumber(change.entityNumber)),
      let image = try HistoryLog(core).image(change.imageKey(entity))
    else { return nil }
    return DynamicRecord(id: change.recordID, bytes: image, entity: entity)
  }

  /// The record after a write inserted or updated it.
  ///
  /// Returns `nil` for a delete. The entity must have kept images without interruption since the
  /// write; otherwise the record may have the values of a later write.
  package func record(after change: HistoryChange) throws(StoreError) -> DynamicRecord? {
    guard change.kind != .deleted,
      let entity = core.schema.entity(EntityNumber(change.entityNumber))
    else { return nil }
    if let image = try HistoryLog(core).nextImage(of: change, entity) {
      return DynamicRecord(id: change.recordID, bytes: image, entity: entity)
    }
    return try record(change.recordID, of: DynamicEntity(stored: entity))
  }

  /// Visits the writes in the history, oldest first, until `body` returns false.
  package func forEachWrite(
    _ query: HistoryQuery, _ body: (HistoryWrite) throws -> Bool
  ) throws {
    try HistoryRun(query, core).forEach { write, stop in stop = try !body(write) }
  }

  /// The token after the last write in the history.
  package func historyToken() throws(StoreError) -> HistoryToken { try HistoryLog(core).token() }

  /// The token after write `number`.
  package func historyToken(number: UInt64) throws(StoreError) -> HistoryToken {
    HistoryToken(storeID: try HistoryLog(core).storeID(), number: number)
  }

  package func historyConsumers() throws(StoreError) -> [HistoryConsumer] {
    try HistoryLog(core).consumers()
  }

  /// Visits the records that match `request`, in ascending order of ids, with the checksum of each.
  ///
  /// The checksums show which records have changed. `request` must not have an order.
  package func forEachChecksum(
    of request: QueryRequest, _ entity: DynamicEntity, _ body: (UInt64, UInt32) -> Void
  ) throws {
    try PlanRun(try core.plan(request, for: entity.stored), core: core).forEach { id, bytes in
      body(id, bytes.count < 4 ? 0 : bytes.uint32(at: bytes.count - 4))
      return true
    }
  }
}

extension DynamicEntity {
  /// Whether the history records changes of the entity.
  package var keepsHistory: Bool { description.history != nil }

  /// The recorded content in words: `changes` and its additions; `nil` when the history is off.
  package var historyText: String? { description.history.map(description.words(of:)) }
}

extension EntityDescription {
  /// A text such as `changes, images, values of title in deleted records`.
  func words(of history: History) -> String {
    let names = history.preserved.compactMap { attribute(number: $0)?.name }
    return
      (["changes"] + (history.keepsImages ? ["images"] : [])
      + (names.isEmpty ? [] : ["values of \(names.joined(separator: " and ")) in deleted records"]))
      .joined(separator: ", ")
  }
}

extension DeclaredEntity {
  /// Makes records expire at the date in the attribute at `position`.
  package mutating func haveExpire(by position: Int) throws(StoreError) { try expire(by: position) }

  /// Limits the number and the size of the records.
  ///
  /// - Parameter position: the attribute that orders the records by age: the oldest has the least
  ///   value. `nil` stands for the order of ids.
  package mutating func limitRecords(
    count: Int?, bytes: Int?, by position: Int?
  ) throws(StoreError) {
    try setLimit(count: count, bytes: bytes, by: position)
  }

  /// Makes the history record changes.
  ///
  /// - Parameter preserved: indices in ``attributes``.
  package mutating func keepHistory(images: Bool, preserved: [Int]) {
    history = .kept(images: images, preserved: preserved)
  }

  /// Copies the rules, element indexes, expiry, limit and history policy of `other`.
  ///
  /// - Parameter positions: the indices in ``attributes`` of the attributes of `other`.
  package mutating func takeRest(of other: DeclaredEntity, at positions: [Int]) throws(StoreError) {
    if let expiry = other.expiry { try expire(by: positions[expiry]) }
    if let limit = other.limit {
      try setLimit(
        count: limit.count, bytes: limit.byteCount, by: limit.attribute.map { positions[$0] })
    }
    for var index in other.computedIndexes {
      for source in index.sources.indices {
        index.sources[source].attribute = positions[index.sources[source].attribute]
      }
      if !computedIndexes.contains(index) { computedIndexes.append(index) }
    }
    rules = other.rules
    history = other.history
    if case .kept(let images, let preserved) = other.history {
      history = .kept(images: images, preserved: preserved.map { positions[$0] })
    }
  }
}

extension DynamicTransaction {
  /// Removes the writes up to `number` from the history; returns the number of removed writes.
  package func purgeHistory(through number: UInt64) throws -> Int {
    let log = WritableHistoryLog(core)
    return try log.purge(through: number)
  }

  /// Removes the writes before a time from the history; the time is in seconds since 2001.
  package func purgeHistory(before time: Double) throws -> Int {
    let log = WritableHistoryLog(core)
    return try log.purge(through: try log.reads.lastNumber(before: time))
  }

  /// Removes the history that all consumers have read; removes nothing when there is no consumer.
  package func purgeConsumedHistory() throws -> Int {
    let log = WritableHistoryLog(core)
    return try log.purge(through: try log.reads.consumers().map(\.token.number).min() ?? 0)
  }
}

extension HistoryChanges {
  /// The changes of the record `id`; none if the write did not change it.
  ///
  /// - Complexity: O(*g* · log *r*) for *g* groups of changes with *r* ranges of ids.
  package func changes(of id: UInt64, in entity: String) -> [HistoryChange] {
    groups.filter { $0.entity == entity && $0.ids.contains(id) }.map { group in
      HistoryChange(
        kind: group.kind, entity: entity, recordID: id, attributes: group.attributes, write: write,
        isExpired: group.isExpired, entityNumber: group.entityNumber, image: image)
    }
  }
}

extension HistoryQuery {
  /// Limits the query to the writes before the write with a number.
  package func before(_ number: UInt64) -> HistoryQuery { with { $0.end = number } }

  /// Limits the query to writes by these authors.
  package func by(_ authors: [String]) -> HistoryQuery { with { $0.authors = Set(authors) } }

  package func excluding(_ authors: [String]) -> HistoryQuery {
    with { $0.excludedAuthors.formUnion(authors) }
  }

  package func of(entitiesNamed names: [String]) -> HistoryQuery {
    with { $0.entities = Set(names) }
  }

  package func only(_ kinds: [HistoryChange.Kind]) -> HistoryQuery {
    with { $0.kinds = Set(kinds) }
  }
}

extension ReadableTransaction where Self: ~Copyable {
  /// The token of write `number`.
  package func historyToken(number: UInt64) throws(StoreError) -> HistoryToken {
    HistoryToken(storeID: try HistoryLog(access.core).storeID(), number: number)
  }
}
