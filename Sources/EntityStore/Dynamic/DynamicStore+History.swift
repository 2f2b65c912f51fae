internal import LMDB
internal import LodestoreFormat

extension DynamicStore {
  /// Calls `body` at once, and again after commits of any process, until it returns false.
  ///
  /// On the calling thread. Commits that come while `body` runs are one.
  package func forEachCommit(_ body: () throws -> Bool) throws {
    let watch = FileWatch(core.environment) {}
    var last: UInt64?
    while core.environment.newestCommit != nil {
      // What a read sees, which may be less than what the file has while a commit is being written.
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
  /// Visits the writes that the history tells of, oldest first, until `body` returns false.
  package func forEachTransaction(
    _ query: HistoryQuery, _ body: (HistoryTransaction) throws -> Bool
  ) throws {
    try HistoryRun(query, core).forEach { transaction, stop in
      stop = try !body(transaction)
    }
  }

  /// The place behind the last write that the history tells of.
  package func historyToken() throws(StoreError) -> HistoryToken { try HistoryLog(core).token() }

  /// The place behind write `number`.
  package func historyToken(number: UInt64) throws(StoreError) -> HistoryToken {
    HistoryToken(storeID: try HistoryLog(core).storeID(), number: number)
  }

  package func historyConsumers() throws(StoreError) -> [HistoryConsumer] {
    try HistoryLog(core).consumers()
  }

  /// Visits the records that `request`, which has no order, finds, by ascending ids, each with its
  /// checksum: to see which have changed.
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
  /// Whether its changes are told in the history.
  package var keepsHistory: Bool { description.history != nil }

  /// What is told of them: `changes`, and what is kept besides; `nil` for nothing.
  package var historyText: String? { description.history.map(description.words(of:)) }
}

extension EntityDescription {
  /// As `changes, images, values of title in deleted records`.
  func words(of history: History) -> String {
    let names = history.preserved.compactMap { attribute(number: $0)?.name }
    return
      (["changes"] + (history.keepsImages ? ["images"] : [])
      + (names.isEmpty ? [] : ["values of \(names.joined(separator: " and ")) in deleted records"]))
      .joined(separator: ", ")
  }
}

extension DeclaredEntity {
  /// Has records expire by the date in the attribute at `position`.
  package mutating func haveExpire(by position: Int) throws(StoreError) {
    try expire(by: position)
  }

  /// Limits the number and the size of the records.
  ///
  /// - Parameter position: the attribute whose least value the oldest record has; `nil` for the order
  ///   of ids.
  package mutating func limitRecords(
    count: Int?, bytes: Int?, by position: Int?
  ) throws(StoreError) {
    try setLimit(count: count, bytes: bytes, by: position)
  }

  /// Has changes told in the history.
  ///
  /// - Parameter preserved: indices in ``attributes``.
  package mutating func keepHistory(images: Bool, preserved: [Int]) {
    history = .kept(images: images, preserved: preserved)
  }

  /// Takes over the rules of `other`, its indexes over elements, its expiry, limit and history.
  ///
  /// - Parameter positions: where the attributes of `other` are in ``attributes``.
  package mutating func takeRest(
    of other: DeclaredEntity, at positions: [Int]
  ) throws(StoreError) {
    if let expiry = other.expiry { try expire(by: positions[expiry]) }
    if let limit = other.limit {
      try setLimit(
        count: limit.count, bytes: limit.byteCount, by: limit.attribute.map { positions[$0] })
    }
    for index in other.elementIndexes {
      let index = ElementIndex(attribute: positions[index.attribute], path: index.path)
      if !elementIndexes.contains(index) { elementIndexes.append(index) }
    }
    rules = other.rules
    history = other.history
    if case .kept(let images, let preserved) = other.history {
      history = .kept(images: images, preserved: preserved.map { positions[$0] })
    }
  }
}

extension DynamicTransaction {
  /// Removes what the history tells of the writes up to `number`; returns of how many.
  package func purgeHistory(through number: UInt64) throws -> Int {
    let log = HistoryLog(core)
    return try log.purge(through: number)
  }

  /// Removes what the history tells of writes before a time; seconds since 2001.
  package func purgeHistory(before time: Double) throws -> Int {
    let log = HistoryLog(core)
    return try log.purge(through: try log.lastNumber(before: time))
  }

  /// Removes what all consumers have read; nothing where there is none.
  package func purgeConsumedHistory() throws -> Int {
    let log = HistoryLog(core)
    return try log.purge(through: try log.consumers().map(\.token.number).min() ?? 0)
  }
}

extension HistoryQuery {
  /// The filters with lists.
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
