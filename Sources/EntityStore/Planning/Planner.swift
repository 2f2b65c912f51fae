internal import LMDB
internal import LodestoreFormat

/// Chooses the plan of a query, as a function of the query, the schema and statistics.
///
/// Costs are nanoseconds, measured once on records of 170 bytes; only their ratios matter. Fetching
/// a record through an index costs as much as ten records of a scan. So beyond a tenth of the
/// records a scan is cheaper, and sorting all records is cheaper than a walk in index order.
struct Planner {
  enum Cost {
    static let scannedRecord = 90.0
    static let fetchedRecord = 900.0
    static let entry = 35.0
    static let range = 300.0
    /// The cost of creating and comparing the other plans of a query.
    static let otherPlan = 3_000.0
    /// The cost of an entry when several ranges are walked at once.
    static let mergedEntry = 150.0
    static let sortedRecord = 160.0
    static let sortedID = 15.0
    /// The assumed share of records that fulfil a clause without an estimate.
    static let unknownShare = 0.3
  }

  let subject: QueryPlan.Subject
  let statistics: PlannerStatistics
  /// The parts of the condition, all of which must be true.
  let clauses: [BoundCondition]
  let constraints: IndexConstraints
  private let known = KnownShares()

  init(
    _ request: QueryRequest, condition: BoundCondition, order: BoundOrder, entity: StoredEntity,
    statistics: PlannerStatistics
  ) {
    subject = QueryPlan.Subject(
      request, condition: condition, order: order, entity: entity,
      recordCount: statistics.recordCount)
    self.statistics = statistics
    clauses = condition.conjuncts
    constraints = IndexConstraints(clauses)
  }

  var entity: StoredEntity { subject.entity }
  var request: QueryRequest { subject.request }
  var condition: BoundCondition { subject.condition }
  var order: BoundOrder { subject.order }

  func plan() throws -> QueryPlan {
    if request.forcesScan, request.ids == nil { return scan(share: share(of: clauses.indices)) }
    if clauses.contains(where: \.isNever) { return finished(.nothing, matches: 0, cost: 0) }
    var candidates: [QueryPlan] = []
    if let plan = try planByID() {
      switch plan.access {
      case .idRange: break
      case .ids(let ids) where request.ids == nil && ids.count > Self.fewIDs: break
      default: return plan
      }
      candidates.append(plan)
    }
    let accesses = try accesses(for: constraints).map { $0.filtered(by: clauses) }
    if accesses.contains(where: { $0.rangeCount == 0 }) {
      return finished(.nothing, matches: 0, cost: 0)
    }
    known.note(accesses, of: statistics.recordCount)
    return try bestPlan(among: candidates, andBy: accesses)
  }

  /// Returns the best of the plans `given`, the plans by `accesses`, and the other plans of the
  /// query.
  private func bestPlan(
    among given: [QueryPlan], andBy accesses: [IndexAccess]
  ) throws -> QueryPlan {
    var candidates = given
    for access in accesses {
      let next = plan(access)
      if next.isCheapest { return next }
      candidates.append(next)
      if let groups = try groupedPlan(access) { candidates.append(groups) }
      if let merged = mergedPlan(access) { candidates.append(merged) }
    }
    if let both = try intersection(of: accesses) { candidates.append(both) }
    for (position, clause) in clauses.enumerated() {
      if let access = try relatedAccess(of: clause) {
        candidates.append(plan(access, covering: position))
      }
      if !entity.computedIndexes.isEmpty {
        if let plan = try elementPlan(of: clause, covering: position) { candidates.append(plan) }
        candidates += try searchPlans(of: clause, covering: position, beside: accesses)
        if let plan = try placePlan(of: clause, covering: position) { candidates.append(plan) }
      }
      if let union = try union(of: clause, at: position) { candidates.append(union) }
    }
    for index in entity.indexes {
      if let walk = try orderedWalk(of: index, accesses) { candidates.append(walk) }
    }
    for access in try skippingAccesses(beside: candidates) {
      candidates.append(plan(access))
      if let merged = mergedPlan(access) { candidates.append(merged) }
    }
    for clause in clauses where !entity.vectorIndexes.isEmpty {
      if let plan = vectorPlan(of: clause, among: candidates) { candidates.append(plan) }
    }
    return try candidateOrScan(candidates, by: accesses)
  }

  /// The maximum number of given ids that are looked up without considering other plans.
  private static let fewIDs = 64

  /// Returns the cheapest of `candidates`, or a scan that is cheaper.
  private func candidateOrScan(
    _ candidates: [QueryPlan], by accesses: [IndexAccess]
  ) throws -> QueryPlan {
    guard let best = candidates.min(by: { $0.cost < $1.cost }) else {
      return try requireNoIndex(scan(share: share(of: clauses.indices)))
    }
    if request.requiresIndex {
      let chosen = best.withFallback(among: candidates)
      guard chosen.needsWholeKeys, chosen.alternative == nil else { return chosen }
      // Cut keys do not decide the order of their records, so this alternative sorts all records.
      return best.withFallback(among: [scan(share: 1)])
    }
    let (sampled, scan) = try sampledBest(
      of: candidates, and: scan(beside: candidates), by: accesses)
    let chosen = sampled.map { $0.cost < scan.cost ? $0 : scan } ?? scan
    return chosen.mayFindLess ? chosen.withFallback(among: candidates + [scan]) : chosen
  }

  private func requireNoIndex(_ plan: QueryPlan) throws(StoreError) -> QueryPlan {
    guard request.requiresIndex, statistics.recordCount > 0 else { return plan }
    throw .needsIndex(
      entity: entity.name, condition: ConditionPrinter.text(request.condition),
      known: entity.indexes.map(\.name))
  }

  // MARK: Scan

  /// Returns a scan that is expected to find as many records as the other plans.
  func scan(beside candidates: [QueryPlan]) -> QueryPlan {
    guard let fewest = candidates.map(\.estimatedMatchCount).min() else {
      return scan(share: share(of: clauses.indices))
    }
    let matches = min(fewest, statistics.recordCount)
    return scan(share: Double(matches) / Double(max(1, statistics.recordCount)))
  }

  private func scan(share: Double) -> QueryPlan {
    let count = Double(statistics.recordCount)
    let checked = Cost.scannedRecord + condition.checkingCost
    let matches = count * share
    return finished(
      .scan, matches: Int(matches), cost: limitedCost(all: count, each: checked, share: share),
      worstCaseCost: count * checked)
  }

  /// Returns the cost of reading `all` records in the order of ids.
  ///
  /// A limit ends the reading early if the query has no other order.
  func limitedCost(all: Double, each: Double, share: Double) -> Double {
    guard order.isByID, let wanted = request.wantedCount, share > 0 else { return all * each }
    return min(all, Double(wanted) / share) * each
  }

  func share(of positions: Range<Int>) -> Double {
    positions.reduce(1.0) { share, position in
      clauses[position].isAlways || clauses[position].leavesOutIDs
        ? share : share * Cost.unknownShare
    }
  }

  // MARK: Indexes

  /// Returns the accesses by all indexes whose first attribute has one of `constraints`.
  func accesses(for constraints: IndexConstraints) throws -> [IndexAccess] {
    var found: [IndexAccess] = []
    for index in entity.indexes {
      if let access = try IndexAccess(index, constraints, statistics) { found.append(access) }
    }
    return found
  }

  func plan(_ access: IndexAccess) -> QueryPlan {
    let entries = Double(access.estimatedEntryCount)
    let fetched = isAnsweredByEntries(access) ? 0 : fetchingCost(covering: access.covered)
    let ranges = Double(min(access.rangeCount, 1 << 20)) * Cost.range
    let passing = passingShare(of: access)
    // The share of the records found by the index that pass the clauses not covered by it.
    let share = share(ofAllBut: access)
    let wanted = request.wantedCount.map { min(entries, Double($0) / (share * passing)) } ?? entries
    let read = wanted * passing
    // If the entries decide the whole condition, entries before the offset are skipped without
    // reading records.
    let skipped = share == 1 ? min(read, Double(request.offset)) : 0
    let cost: Double
    let worstCase: Double
    switch order.arrangement(for: .index(access), request: request) {
    case .index:
      cost = wanted * Cost.entry + (read - skipped) * fetched + ranges
      worstCase = entries * (Cost.entry + passing * fetched) + ranges
    case .natural where order.isByID:
      // All entries are collected and sorted by id, but only the wanted records are read.
      let collected = entries * (Cost.entry + Cost.sortedID) + ranges
      cost = collected + (read - skipped) * fetched
      worstCase = collected + entries * passing * fetched
    case .natural, .sort, .groups, .merge, .ranked:
      cost = entries * (Cost.entry + passing * (fetched + Cost.sortedRecord)) + ranges
      worstCase = cost
    }
    return finished(
      .index(access), matches: Int(entries * passing), cost: cost, worstCaseCost: worstCase,
      covered: access.covered)
  }

  /// Returns the estimated share of the entries of `access` that pass its filter.
  func passingShare(of access: IndexAccess) -> Double {
    share(ofClauses: access.filter?.clauses.subtracting(access.clauses) ?? [])
  }

  /// Returns the estimated share of records that pass the clauses not covered by `access`.
  func share(ofAllBut access: IndexAccess) -> Double {
    let known = access.clauses.union(access.filter?.clauses ?? [])
    return share(ofClauses: clauses.indices.filter { !known.contains($0) })
  }

  /// Returns the estimated share of records that pass some clauses, assuming that these are
  /// independent.
  ///
  /// For clauses that an index covers, it is the share of the index's entries.
  func share(ofClauses positions: some Sequence<Int>) -> Double {
    var rest = positions.filter { !clauses[$0].isAlways && !clauses[$0].leavesOutIDs }
    var share = 1.0
    for part in known.parts where !rest.isEmpty && part.clauses.allSatisfy(rest.contains) {
      share *= part.share
      rest.removeAll(where: part.clauses.contains)
    }
    for _ in rest { share *= Cost.unknownShare }
    return share
  }

  /// Returns whether the entries alone answer the query.
  func isAnsweredByEntries(_ access: IndexAccess) -> Bool {
    guard request.wantsOnlyEntries, request.after == nil else { return false }
    return clauses.indices.allSatisfy { clauses[$0].isAlways || access.covered.contains($0) }
  }

  /// The number of entries up to which their records are read instead of intersecting with another
  /// index.
  private static let mostFewEntries = 16
  /// The maximum number of entries of a second index that are read to save the reading of one
  /// record.
  ///
  /// A measurement on records in memory gave some 200 nanoseconds for a record, and some 40 for an
  /// entry with sorting its id. ``Cost/fetchedRecord`` is from another measurement, and is higher.
  private static let mostEntriesPerRecord = 3

  /// Returns a plan for the intersection of the two most selective indexes that cover different
  /// clauses, if it may be worthwhile.
  private func intersection(of accesses: [IndexAccess]) throws -> QueryPlan? {
    let ordered = accesses.sorted { $0.estimatedEntryCount < $1.estimatedEntryCount }
    guard ordered.count >= 2, let first = ordered.first,
      first.estimatedEntryCount > Self.mostFewEntries,
      let second = ordered.dropFirst().first(where: {
        !$0.clauses.isSubset(of: first.clauses) && !first.clauses.isSubset(of: $0.clauses)
      }),
      second.estimatedEntryCount <= Self.mostEntriesPerRecord * first.estimatedEntryCount
    else { return nil }
    let total = Double(max(1, statistics.recordCount))
    let entries = Double(first.estimatedEntryCount + second.estimatedEntryCount)
    let common = Double(first.estimatedEntryCount) / total * Double(second.estimatedEntryCount)
    let covered = first.covered.union(second.covered)
    let costs = collectingCosts(
      entries * Cost.entry * 2 + 2 * Cost.range, matches: common, covering: covered)
    return finished(
      .intersection([first, second]), matches: Int(common), cost: costs.expected,
      worstCaseCost: costs.worstCase, covered: covered)
  }

  /// Returns the expected and the worst-case cost of collecting ids and reading `matches` records
  /// in the order of ids.
  ///
  /// A limit ends the reading early if the query has no other order.
  ///
  /// - Parameter covered: the clauses that are not checked on the records.
  func collectingCosts(
    _ collected: Double, matches: Double, covering covered: Set<Int>
  ) -> (expected: Double, worstCase: Double) {
    let each = fetchingCost(covering: covered) + Cost.sortedRecord
    let worstCase = collected + matches * each
    guard order.isByID, let wanted = request.wantedCount else { return (worstCase, worstCase) }
    let share = share(of: 0..<max(0, clauses.count - covered.count))
    return (collected + min(matches, Double(wanted) / share) * each, worstCase)
  }

  /// Returns a plan that walks the whole of `index`, if its order is the query's order or the
  /// beginning of the query's order.
  private func orderedWalk(of index: StoredIndex, _ accesses: [IndexAccess]) throws -> QueryPlan? {
    // If records must be checked, the first match may be at the end of the index. Such a walk has
    // no bound.
    if request.requiresIndex, !clauses.allSatisfy({ $0.isAlways || $0.leavesOutIDs }) { return nil }
    guard let wanted = request.wantedCount,
      !accesses.contains(where: { $0.index.description.number == index.description.number })
    else { return nil }
    let access = IndexAccess(whole: index, count: statistics.recordCount).filtered(by: clauses)
    let total = Double(statistics.recordCount)
    let selective = accesses.map(\.estimatedEntryCount).min()
    let share =
      selective.map { max(1e-9, Double($0) / max(1, total)) } ?? share(of: clauses.indices)
    if order.isReversed(in: access) == nil { return try groupedPlan(access, share: share) }
    let walked = min(total, Double(wanted) / share)
    let fetched = isAnsweredByEntries(access) ? 0 : fetchingCost(covering: access.covered)
    let each = Cost.entry + passingShare(of: access) * fetched
    let skipped = share == 1 ? min(walked, Double(request.offset)) : 0
    return finished(
      .index(access), matches: Int(total * share),
      cost: walked * each - skipped * fetched + Cost.range,
      worstCaseCost: total * each + Cost.range, covered: access.covered)
  }

  /// Returns a plan that walks an index in the order of the query's first terms, and sorts records
  /// with equal values together.
  private func groupedPlan(_ access: IndexAccess, share: Double? = nil) throws -> QueryPlan? {
    guard let wanted = request.wantedCount, let groups = order.groups(in: access),
      let range = access.ranges.first
    else { return nil }
    let entries = Double(access.estimatedEntryCount)
    let share = share ?? passingShare(of: access) * self.share(ofAllBut: access)
    let size = try statistics.groupSize(
      access.index, range, groups.attributeCount, isReversed: groups.isReversed)
    let walked = min(entries, Double(wanted) / share + Double(size))
    let each = Cost.entry + fetchingCost(covering: access.covered) + Cost.sortedRecord
    return finished(
      .index(access), matches: Int(entries * share), cost: walked * each + Cost.range,
      worstCaseCost: entries * each + Cost.range, covered: access.covered,
      arrangement: .groups(groups))
  }

  // MARK: Completing a plan

  /// Creates a plan whose residual consists of the clauses that are not covered.
  ///
  /// - Parameter worstCaseCost: the cost if fewer records than expected fulfil the condition;
  ///   `nil` if it equals `cost`.
  func finished(
    _ access: AccessPath, matches: Int, cost: Double, worstCaseCost: Double? = nil,
    covered: Set<Int> = [], arrangement: QueryPlan.Arrangement? = nil
  ) -> QueryPlan {
    let positions = clauses.indices.filter { !clauses[$0].isAlways && !covered.contains($0) }
    let rest = positions.map { clauses[$0] }
    let residual = rest.isEmpty ? nil : rest.count == 1 ? rest[0] : .all(rest)
    let arrangement = arrangement ?? order.arrangement(for: access, request: request)
    var sorting = 0.0
    if case .sort = arrangement {
      sorting = Double(matches) * (Cost.sortedRecord + order.scoringCost)
    }
    return QueryPlan(
      subject: subject, access: access, residual: residual, arrangement: arrangement,
      cost: cost + sorting,
      worstCaseCost: (residual == nil ? cost : worstCaseCost ?? cost) + sorting,
      estimatedMatchCount: matches)
  }
}

/// The shares of records that pass some clauses, estimated from indexes, the lowest first.
///
/// The type is a class, so that the shares can be added without copying the planner.
private final class KnownShares {
  private(set) var parts: [(clauses: Set<Int>, share: Double)] = []

  func note(_ accesses: [IndexAccess], of count: Int) {
    let total = Double(max(1, count))
    parts = accesses.filter { !$0.clauses.isEmpty }
      .map { ($0.clauses, min(1, Double(max(1, $0.estimatedEntryCount)) / total)) }
      .sorted { $0.share < $1.share }
  }
}

extension QueryRequest {
  /// The number of records needed from the beginning of the order.
  var wantedCount: Int? {
    limit.map { limit in
      let (sum, overflows) = limit.addingReportingOverflow(offset)
      return overflows ? .max : sum
    }
  }
}
