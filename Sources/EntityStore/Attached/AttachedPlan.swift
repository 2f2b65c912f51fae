internal import LodestoreBytes
internal import LodestoreFormat

/// The plan for running a query over two stores.
struct AttachedPlan<E: Entity> {
  /// The query, with the conditions made from keys of the other store.
  private(set) var query: Query<E>
  /// The conditions that are checked on the records found by the query.
  private(set) var checks: [SemiJoin<E>] = []
  /// The lines of the explanation for each condition over the other store.
  private(set) var steps: [(title: String, text: String)] = []
  private let own: TransactionCore
  private let other: TransactionCore

  /// Finds the keys of a condition in the other store first, if this is cheaper than checking the
  /// query's records.
  init(
    _ query: AttachedQuery<E>, own: TransactionCore, dataset: TransactionCore, keyLimit: Int,
    boundedKeyLimit: Int = SemiJoinLimits.keys
  ) throws(StoreError) {
    let isOfDataset = query.joins.first?.isOfDataset ?? false
    guard query.joins.allSatisfy({ $0.isOfDataset == isOfDataset }) else {
      throw .badQuery(
        "\(E.schema.name) is asked for as the entity that refers and as the entity that is referred to; "
          + "its records are in one of the two stores")
    }
    self.own = isOfDataset ? dataset : own
    other = isOfDataset ? own : dataset
    self.query = query.records
    for join in query.joins {
      try wrappingErrors { try add(join, join.isOfBounded ? boundedKeyLimit : keyLimit) }
    }
  }

  private mutating func add(_ join: SemiJoin<E>, _ keyLimit: Int) throws {
    let plan = try join.plan(other)
    let matches = plan.estimatedMatchCount
    let isCheap = try cost(ofKeysOf: plan) <= cost(ofChecksOf: join, plan)
    let isKeysFirst = join.isOfBounded || matches <= keyLimit && isCheap
    let verb = join.isNegated ? "not by" : "by"
    if isKeysFirst, let condition = try join.condition(own, other, keyLimit) {
      query = query.where(condition)
      steps.append(
        (
          "keys",
          "\(verb) \(join.reference): about \(matches) of \(plan.entity.name) asked for first"
        ))
      for line in plan.description.lines { steps.append(("", "\(line.title) \(line.text)")) }
    } else if join.isOfBounded {
      // If the query of the other store has a limit, its results are known only after it has run
      // completely. The records of this query can therefore not be checked against it one by one.
      throw StoreError.badQuery(
        "the query of \(plan.entity.name) for \(join.reference) has a limit, an offset or a token, "
          + "and finds more than \(keyLimit) keys or \(SemiJoinLimits.keyBytes >> 20) MiB of them, the "
          + "most that are kept in memory; give it a lower limit")
    } else {
      checks.append(join)
      steps.append(
        (
          "checks",
          "\(verb) \(join.reference): on \(SemiJoinLimits.chunk) records at a time, looked up in "
            + plan.entity.name
        ))
    }
  }

  /// The estimated nanoseconds for finding the keys and creating a condition from them.
  private func cost(ofKeysOf plan: QueryPlan) -> Double {
    plan.cost + Double(plan.estimatedMatchCount) * Self.costOfKey
  }

  /// The estimated nanoseconds for checking the query's records against the other store.
  private func cost(ofChecksOf join: SemiJoin<E>, _ plan: QueryPlan) throws -> Double {
    let records = try own.plan(try query.request(), for: try own.entity(E.self))
    var count = Double(records.estimatedMatchCount)
    if let limit = query.window.limit {
      // With a limit, the query reads records only until the limit and offset are filled with
      // matching ones.
      let all = join.isOfDataset ? records.recordCount : plan.recordCount
      let matching = min(1, Double(plan.estimatedMatchCount) / Double(max(1, all)))
      let share = join.isNegated ? 1 - matching : matching
      count = min(count, (Double(limit) + Double(query.window.offset)) / max(share, 1e-6))
    }
    return count * Self.costOfCheck
  }

  private static var costOfKey: Double { 1_500 }
  private static var costOfCheck: Double { 3_000 }

  // MARK: Running

  /// Calls `body` with the results in the order of the query, until it returns false.
  func visit(_ body: (StoredRow) throws -> Bool) throws {
    guard !checks.isEmpty else {
      return try visit(own.run(query)) { id, bytes in try body(StoredRow(id: id, bytes: bytes)) }
    }
    try query.request().checkWindow()
    var window = query.window
    if window.limit == 0 { return }
    var chunk: [StoredRow] = []
    // A limit is often reached after few records, so the first chunks are small.
    var size = window.limit.map { min(SemiJoinLimits.chunk, max(32, $0)) } ?? SemiJoinLimits.chunk
    func flush() throws -> Bool {
      for row in try admitted(chunk) {
        if window.offset > 0 {
          window.offset -= 1
          continue
        }
        guard try body(row) else { return false }
        if let limit = window.limit {
          window.limit = limit - 1
          if limit == 1 { return false }
        }
      }
      chunk.removeAll(keepingCapacity: true)
      size = min(SemiJoinLimits.chunk, size * 2)
      return true
    }
    var isOver = false
    try visit(own.run(query.unlimited())) { id, bytes in
      chunk.append(StoredRow(id: id, bytes: bytes))
      guard chunk.count >= size else { return true }
      isOver = try !flush()
      return !isOver
    }
    if !isOver { _ = try flush() }
  }

  /// Calls `body` with the results of `run`, until it returns false; rethrows errors of `body`
  /// unchanged.
  private func visit(_ run: PlanRun, _ body: (UInt64, ByteView) throws -> Bool) throws {
    var thrown: (any Error)?
    try run.forEach { id, bytes in
      do {
        return try body(id, bytes)
      } catch {
        thrown = error
        return false
      }
    }
    if let thrown { throw thrown }
  }

  private func admitted(_ chunk: [StoredRow]) throws -> [StoredRow] {
    var left = chunk
    for check in checks where !left.isEmpty {
      let answers = try check.admits(left, own, other)
      left = zip(left, answers).compactMap { $1 ? $0 : nil }
    }
    return left
  }

  /// The number of results.
  func count() throws -> Int {
    if checks.isEmpty { return try own.run(query.unordered(), wantsOnlyEntries: true).count() }
    var count = 0
    try visit { _ in
      count += 1
      return true
    }
    return count
  }

  /// Calls `body` with the decoded results in the order of the query, until it returns false.
  func visitRecords(_ body: (E) throws -> Bool) throws {
    let entity = try own.entity(E.self)
    try visit { try body(try own.decode(E.self, $0, of: entity)) }
  }

  /// The ids of the results, in the order of the query.
  func ids() throws -> [UInt64] {
    if checks.isEmpty { return try own.run(query, wantsOnlyEntries: true).ids() }
    var ids: [UInt64] = []
    try visit { row in
      ids.append(row.id)
      return true
    }
    return ids
  }

  /// The plan of the query in its own store.
  func explanation() throws(StoreError) -> QueryExplanation {
    let ownQuery = checks.isEmpty ? query : query.unlimited()
    return QueryExplanation(try own.run(ownQuery).plan.description, nil)
  }
}

/// The plan of a query over two stores, which shows the store that is searched first.
public struct AttachedExplanation: Sendable, CustomStringConvertible {
  /// The plan for finding the records in their own store, with the conditions made from keys of the
  /// other store.
  public let query: QueryExplanation
  /// The number of conditions over the other store that are checked on records.
  ///
  /// For each of the other conditions, the keys of matching records in the other store are found
  /// before the query runs.
  public let checkCount: Int
  /// The plan in lines: the conditions over the other store, then the query.
  public let description: String

  init<E: Entity>(_ plan: AttachedPlan<E>) throws(StoreError) {
    query = try plan.explanation()
    checkCount = plan.checks.count
    let lines = plan.steps.map { step in
      step.title + String(repeating: " ", count: max(1, 8 - step.title.count)) + step.text
    }
    description = (lines + [query.description]).joined(separator: "\n")
  }
}

extension AttachedSnapshot {
  private func plan<E: Entity>(_ query: AttachedQuery<E>) throws(StoreError) -> AttachedPlan<E> {
    try AttachedPlan(
      query, own: core, dataset: dataset.core, keyLimit: keyLimit, boundedKeyLimit: boundedKeyLimit)
  }

  /// Calls `body` with the results of `query`, in its order, until it returns false.
  func visit<E: Entity>(_ query: AttachedQuery<E>, _ body: (StoredRow) throws -> Bool) throws {
    try plan(query).visit(body)
  }

  /// Returns the records that match `query`, in its order.
  ///
  /// Besides the results, memory holds either keys of the other store, at most 65,536 or 16 MiB, or
  /// 1,024 records that are checked at once. An order without an index also has its sort keys in
  /// memory.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery``, and the errors of a fetch of its parts. A query of
  ///   the other store with a limit, an offset or a token must find at most 65,536 keys. These
  ///   keys must have at most 16 MiB.
  public func fetch<E: Entity>(_ query: AttachedQuery<E>) throws -> [E] {
    var found: [E] = []
    try plan(query).visitRecords { record in
      found.append(record)
      return true
    }
    return found
  }

  /// Returns the first record that matches `query`, or `nil`.
  public func first<E: Entity>(_ query: AttachedQuery<E>) throws -> E? {
    var found: E?
    try plan(query).visitRecords { record in
      found = record
      return false
    }
    return found
  }

  /// Visits the records that match `query`, in its order.
  ///
  /// - Throws: the errors of `body`, unchanged; also the errors of
  ///   ``fetch(_:)-(AttachedQuery<E>)``.
  public func forEach<E: Entity>(_ query: AttachedQuery<E>, _ body: (E) throws -> Void) throws {
    try plan(query).visitRecords { record in
      try body(record)
      return true
    }
  }

  /// Returns the number of records that match `query`, within its limit and offset, without
  /// decoding them.
  public func count<E: Entity>(_ query: AttachedQuery<E>) throws -> Int { try plan(query).count() }

  /// Returns the ids of the records that match `query`, in its order, without decoding them.
  public func ids<E: Entity>(_ query: AttachedQuery<E>) throws -> [E.ID] {
    try plan(query).ids().map { RecordID(rawValue: $0) }
  }

  /// Explains the plan of `query`: the store that is searched first, and the search for the
  /// records.
  ///
  /// If the keys of the other store are found first, the explanation finds them too.
  public func explain<E: Entity>(_ query: AttachedQuery<E>) throws -> AttachedExplanation {
    try AttachedExplanation(plan(query))
  }
}
