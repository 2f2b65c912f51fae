internal import LMDB
internal import LodestoreFormat

/// What the planner knows of the data.
struct PlannerStatistics {
  var recordCount: Int
  /// The plan of a query for the records that a relationship leads to, and how many links it has.
  var related: (RelatedTest) throws -> (target: QueryPlan, linkCount: Int)
  /// About how many entries of an index lie within a range, by descending its tree.
  var estimate: (StoredIndex, IndexRange) throws -> Int
}

/// Chooses how a query is run: a pure function from a query, a schema and statistics to a plan.
///
/// Costs are nanoseconds, measured once on records of 170 bytes; their ratios matter. A record fetched
/// through an index costs as much as ten records of a scan. So beyond a tenth of the records a scan is
/// cheaper, and sorting all records is cheaper than a walk in index order.
struct Planner {
  enum Cost {
    static let scannedRecord = 90.0
    static let fetchedRecord = 900.0
    static let entry = 35.0
    static let range = 300.0
    static let sortedRecord = 160.0
    /// The share of records that pass a clause of which nothing is known.
    static let unknownShare = 0.3
  }

  let entity: StoredEntity
  let statistics: PlannerStatistics
  let request: QueryRequest
  private let condition: BoundCondition
  private let order: BoundOrder
  /// The parts of the condition that must all be true.
  private let clauses: [BoundCondition]

  init(
    _ request: QueryRequest, condition: BoundCondition, order: BoundOrder, entity: StoredEntity,
    statistics: PlannerStatistics
  ) {
    self.request = request
    self.condition = condition
    self.order = order
    self.entity = entity
    self.statistics = statistics
    clauses = Self.conjuncts(condition)
  }

  /// Nested conjunctions as one list.
  private static func conjuncts(_ condition: BoundCondition) -> [BoundCondition] {
    guard case .all(let parts) = condition else { return [condition] }
    return parts.flatMap { conjuncts($0) }
  }

  func plan() throws -> QueryPlan {
    if request.forcesScan, request.ids == nil { return scan(share: share(of: clauses.indices)) }
    if clauses.contains(where: \.isNever) { return finished(.nothing, matches: 0, cost: 0) }
    var candidates: [QueryPlan] = []
    if let plan = planByID() {
      if case .idRange = plan.access { candidates.append(plan) } else { return plan }
    }
    let accesses = try accesses(for: clauses)
    if accesses.contains(where: { $0.rangeCount == 0 }) {
      return finished(.nothing, matches: 0, cost: 0)
    }
    for access in accesses { candidates.append(plan(access)) }
    if let both = try intersection(of: accesses) { candidates.append(both) }
    for (position, clause) in clauses.enumerated() {
      if let access = try relatedAccess(of: clause) {
        candidates.append(plan(access, covering: position))
      }
      if let plan = try elementPlan(of: clause, covering: position) { candidates.append(plan) }
      if let union = try union(of: clause, at: position) { candidates.append(union) }
    }
    for index in entity.indexes {
      if let walk = try orderedWalk(of: index, accesses) { candidates.append(walk) }
    }
    guard let best = candidates.min(by: { $0.cost < $1.cost }) else {
      return try requireNoIndex(scan(share: share(of: clauses.indices)))
    }
    if request.requiresIndex { return best }
    let matches = min(
      candidates.map(\.estimatedMatchCount).min() ?? .max, statistics.recordCount)
    let scan = scan(share: Double(matches) / Double(max(1, statistics.recordCount)))
    return best.cost < scan.cost ? best : scan
  }

  private func requireNoIndex(_ plan: QueryPlan) throws(StoreError) -> QueryPlan {
    guard request.requiresIndex, statistics.recordCount > 0 else { return plan }
    throw .needsIndex(
      entity: entity.name, condition: ConditionPrinter.text(request.condition),
      known: entity.indexes.map(\.name))
  }

  // MARK: Scan

  private func scan(share: Double) -> QueryPlan {
    let count = Double(statistics.recordCount)
    let checked = condition.checkingCost
    var cost = count * (Cost.scannedRecord + checked)
    let matches = count * share
    // Without an order to establish, a limit ends the scan early.
    if order.isByID, let wanted = request.wantedCount, share > 0 {
      cost = min(cost, Double(wanted) / share * (Cost.scannedRecord + checked))
    }
    return finished(.scan, matches: Int(matches), cost: cost, covered: [])
  }

  private func share(of positions: Range<Int>) -> Double {
    positions.reduce(1.0) { share, position in
      clauses[position].isAlways ? share : share * Cost.unknownShare
    }
  }

  // MARK: Ids

  /// A condition on the record's id needs no index.
  private func planByID() -> QueryPlan? {
    var ids: Set<UInt64>?
    var low: UInt64 = 1
    var high: UInt64 = .max
    var covered: Set<Int> = []
    if let given = request.ids, !clauses.contains(where: \.isOfRecordID) {
      return finished(
        .ids(given), matches: given.count, cost: Double(given.count) * Cost.fetchedRecord)
    }
    ids = request.ids.map { Set($0) }
    for (position, clause) in clauses.enumerated() {
      guard case .test(let test) = clause, test.attribute.isRecordID else { continue }
      switch test.kind {
      case .interval(let interval):
        guard !interval.isEmpty else { return finished(.nothing, matches: 0, cost: 0) }
        low = max(low, UInt64(bitPattern: interval.low) ^ (1 << 63))
        high = min(high, UInt64(bitPattern: interval.high) ^ (1 << 63))
      case .numbers(let set):
        let keys = Set(set.sorted.map { UInt64(bitPattern: $0) ^ (1 << 63) })
        ids = ids?.intersection(keys) ?? keys
      default: return finished(.nothing, matches: 0, cost: 0)
      }
      covered.insert(position)
    }
    guard !covered.isEmpty else { return nil }
    guard low <= high else { return finished(.nothing, matches: 0, cost: 0) }
    if low == high, ids == nil { ids = [low] }
    if let ids {
      let sorted = ids.filter { $0 >= low && $0 <= high }.sorted()
      return finished(
        .ids(sorted), matches: sorted.count, cost: Double(sorted.count) * Cost.fetchedRecord,
        covered: covered)
    }
    let width = Int(clamping: (high - low).addingReportingOverflow(1).partialValue)
    let count = min(width == 0 ? .max : width, statistics.recordCount)
    return finished(
      .idRange(low...high), matches: count, cost: Double(count) * Cost.scannedRecord,
      covered: covered)
  }

  // MARK: Indexes

  /// The accesses by each index that some of `clauses` constrain.
  private func accesses(for clauses: [BoundCondition]) throws -> [IndexAccess] {
    var found: [IndexAccess] = []
    for index in entity.indexes {
      if let access = try IndexAccess(index, clauses, statistics) { found.append(access) }
    }
    return found
  }

  private func plan(_ access: IndexAccess) -> QueryPlan {
    let entries = Double(access.estimatedEntryCount)
    let fetched = isAnsweredByEntries(access) ? 0 : Cost.fetchedRecord
    var cost =
      entries * (Cost.entry + fetched) + Double(min(access.rangeCount, 1 << 20))
      * Cost.range
    if case .nothing = order.access(access) {
      cost += entries * Cost.sortedRecord
    } else if let wanted = request.wantedCount {
      let share = share(of: 0..<max(0, clauses.count - access.clauses.count))
      cost = min(cost, (Double(wanted) / share) * (Cost.entry + fetched) + Cost.range)
    }
    return finished(
      .index(access), matches: access.estimatedEntryCount, cost: cost, covered: access.covered)
  }

  /// Whether the entries alone answer the query.
  private func isAnsweredByEntries(_ access: IndexAccess) -> Bool {
    guard request.wantsOnlyEntries, request.after == nil else { return false }
    return clauses.indices.allSatisfy { clauses[$0].isAlways || access.covered.contains($0) }
  }

  /// The intersection of two indexes.
  private func intersection(of accesses: [IndexAccess]) throws -> QueryPlan? {
    let ordered = accesses.sorted { $0.estimatedEntryCount < $1.estimatedEntryCount }
    guard ordered.count >= 2, let first = ordered.first,
      let second = ordered.dropFirst().first(where: {
        !$0.clauses.isSubset(of: first.clauses) && !first.clauses.isSubset(of: $0.clauses)
      })
    else { return nil }
    let total = Double(max(1, statistics.recordCount))
    let entries = Double(first.estimatedEntryCount + second.estimatedEntryCount)
    let common =
      Double(first.estimatedEntryCount) / total * Double(second.estimatedEntryCount)
    let cost =
      entries * Cost.entry * 2 + common * (Cost.fetchedRecord + Cost.sortedRecord) + 2 * Cost.range
    return finished(
      .intersection([first, second]), matches: Int(common), cost: cost,
      covered: first.covered.union(second.covered))
  }

  /// The union of the branches of a disjunction, if every branch has an index.
  private func union(of clause: BoundCondition, at position: Int) throws -> QueryPlan? {
    guard case .any(let branches) = clause, branches.count <= 1_000 else { return nil }
    var paths: [AccessPath] = []
    var entries = 0
    var isExact = true
    for branch in branches {
      if branch.isNever { continue }
      let parts = Self.conjuncts(branch)
      let access = try accesses(for: parts)
        .min { $0.estimatedEntryCount < $1.estimatedEntryCount }
      guard let access else { return nil }
      paths.append(.index(access))
      entries += access.estimatedEntryCount
      isExact = isExact && access.covered.count == parts.count
    }
    if paths.isEmpty { return finished(.nothing, matches: 0, cost: 0) }
    let matches = min(entries, statistics.recordCount)
    let cost =
      Double(entries) * Cost.entry * 2 + Double(matches) * (Cost.fetchedRecord + Cost.sortedRecord)
      + Double(paths.count) * Cost.range
    return finished(
      .union(paths), matches: matches, cost: cost, covered: isExact ? [position] : [])
  }

  /// A walk of the whole of `index` for its order alone.
  private func orderedWalk(
    of index: StoredIndex, _ accesses: [IndexAccess]
  ) throws -> QueryPlan? {
    // If records have to be checked, the first that passes may be at the end of the index.
    if request.requiresIndex, !clauses.allSatisfy(\.isAlways) { return nil }
    guard let wanted = request.wantedCount,
      !accesses.contains(where: { $0.index.description.number == index.description.number })
    else { return nil }
    let access = IndexAccess(whole: index, count: statistics.recordCount)
    if case .nothing = order.access(access) { return nil }
    let total = Double(statistics.recordCount)
    let selective = accesses.map(\.estimatedEntryCount).min()
    let share =
      selective.map { max(1e-9, Double($0) / max(1, total)) } ?? share(of: clauses.indices)
    let walked = min(total, Double(wanted) / share)
    return finished(
      .index(access), matches: Int(total * share),
      cost: walked * (Cost.entry + Cost.fetchedRecord) + Cost.range, covered: [])
  }

  // MARK: The whole

  func finished(
    _ access: AccessPath, matches: Int, cost: Double, covered: Set<Int> = []
  ) -> QueryPlan {
    let positions = clauses.indices.filter { !clauses[$0].isAlways && !covered.contains($0) }
    let rest = positions.map { clauses[$0] }
    let residual = rest.isEmpty ? nil : rest.count == 1 ? rest[0] : .all(rest)
    let arrangement = order.arrangement(for: access, request: request)
    var total = cost
    if case .sort = arrangement { total += Double(matches) * Cost.sortedRecord }
    return QueryPlan(
      entity: entity, access: access, residual: residual, residualClauses: Set(positions),
      condition: condition,
      arrangement: arrangement, order: order, request: request, cost: total,
      estimatedMatchCount: matches, recordCount: statistics.recordCount)
  }
}

extension QueryRequest {
  /// How many records are needed from the beginning of the order.
  var wantedCount: Int? {
    limit.map { limit in
      let (sum, overflows) = limit.addingReportingOverflow(offset)
      return overflows ? .max : sum
    }
  }
}
