internal import LMDB
internal import LodestoreFormat

/// The facts about the data that the planner asks for.
struct PlannerStatistics {
  var recordCount: Int
  /// The plan of a query for the records that a relationship leads to, and how many links it has.
  var related: (RelatedTest) throws -> (target: QueryPlan, linkCount: Int)
  /// About how many entries of an index lie within a range, by descending its tree.
  var estimate: (StoredIndex, IndexRange) throws -> Int
  /// The first and the last id of the entity's records; `nil` when there are none.
  var ids: () throws -> ClosedRange<UInt64>?
  /// About how many entries have the same first few attributes as the first entry of a range, or as
  /// its last.
  var groupSize: (StoredIndex, IndexRange, _ attributeCount: Int, _ isReversed: Bool) throws -> Int
  /// The values of the first attribute of an index, as elements of its keys; `nil` where there are
  /// more than a number.
  var firstElements: (StoredIndex, Int) throws -> PackedKeys?
  /// The ids of a number of entries, half of them at the beginning of an access and half at its
  /// end.
  var ends: (IndexAccess, Int) throws -> [UInt64]
  /// The keys that records have in an index, without a number of elements at their beginning.
  var keys: (StoredIndex, [UInt64], _ behind: Int) throws -> [[UInt8]]
}

/// Chooses how a query is run: a pure function from a query, a schema and statistics to a plan.
///
/// Costs are nanoseconds, measured once on records of 170 bytes; their ratios matter. A record
/// fetched through an index costs as much as ten records of a scan. So beyond a tenth of the
/// records a scan is cheaper, and sorting all records is cheaper than a walk in index order.
struct Planner {
  enum Cost {
    static let scannedRecord = 90.0
    static let fetchedRecord = 900.0
    static let entry = 35.0
    static let range = 300.0
    /// To make and compare the other plans of a query.
    static let otherPlan = 3_000.0
    /// One of several ranges that are walked at once.
    static let mergedEntry = 150.0
    static let sortedRecord = 160.0
    static let sortedID = 15.0
    /// The share of records that pass a clause of which nothing is known.
    static let unknownShare = 0.3
  }

  let subject: QueryPlan.Subject
  let statistics: PlannerStatistics
  /// The parts of the condition that must all be true.
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
    return try best(of: candidates, and: accesses)
  }

  /// The best of the plans by `accesses` and of others, among them `candidates`.
  private func best(of given: [QueryPlan], and accesses: [IndexAccess]) throws -> QueryPlan {
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
      if let plan = try elementPlan(of: clause, covering: position) { candidates.append(plan) }
      if let union = try union(of: clause, at: position) { candidates.append(union) }
    }
    for index in entity.indexes {
      if let walk = try orderedWalk(of: index, accesses) { candidates.append(walk) }
    }
    for access in try skippingAccesses(beside: candidates) {
      candidates.append(plan(access))
      if let merged = mergedPlan(access) { candidates.append(merged) }
    }
    return try best(of: candidates, accesses)
  }

  /// Up to this many ids are looked up at once; for more, other plans are considered.
  private static let fewIDs = 64

  private func best(of candidates: [QueryPlan], _ accesses: [IndexAccess]) throws -> QueryPlan {
    guard let best = candidates.min(by: { $0.cost < $1.cost }) else {
      return try requireNoIndex(scan(share: share(of: clauses.indices)))
    }
    if request.requiresIndex {
      let chosen = best.changing(to: candidates)
      guard chosen.needsWholeKeys, chosen.alternative == nil else { return chosen }
      // Where keys are cut the entries do not tell the order, and all records are sorted.
      return best.changing(to: [scan(share: 1)])
    }
    let (sampled, scan) = try self.best(of: candidates, and: scan(beside: candidates), accesses)
    let chosen = sampled.map { $0.cost < scan.cost ? $0 : scan } ?? scan
    return chosen.mayFindLess ? chosen.changing(to: candidates + [scan]) : chosen
  }

  private func requireNoIndex(_ plan: QueryPlan) throws(StoreError) -> QueryPlan {
    guard request.requiresIndex, statistics.recordCount > 0 else { return plan }
    throw .needsIndex(
      entity: entity.name, condition: ConditionPrinter.text(request.condition),
      known: entity.indexes.map(\.name))
  }

  // MARK: Scan

  /// A scan that finds as many records as other plans expect.
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
      certainCost: count * checked)
  }

  /// The cost of reading `all` records in the order of the ids; a limit ends that early where no
  /// other order is asked for.
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

  /// The accesses by each index whose first attribute has one of `constraints`.
  func accesses(for constraints: IndexConstraints) throws -> [IndexAccess] {
    var found: [IndexAccess] = []
    for index in entity.indexes {
      if let access = try IndexAccess(index, constraints, statistics) { found.append(access) }
    }
    return found
  }

  func plan(_ access: IndexAccess) -> QueryPlan {
    let entries = Double(access.estimatedEntryCount)
    let fetched = isAnsweredByEntries(access) ? 0 : Cost.fetchedRecord
    let ranges = Double(min(access.rangeCount, 1 << 20)) * Cost.range
    let passing = passingShare(of: access)
    // The share of these whose records pass what the index does not prove.
    let share = share(ofAllBut: access)
    let wanted =
      request.wantedCount.map { min(entries, Double($0) / (share * passing)) } ?? entries
    let read = wanted * passing
    // Where the entries say it all, those of the offset are skipped as such.
    let skipped = share == 1 ? min(read, Double(request.offset)) : 0
    let cost: Double
    let certain: Double
    switch order.arrangement(for: .index(access), request: request) {
    case .index:
      cost = wanted * Cost.entry + (read - skipped) * fetched + ranges
      certain = entries * (Cost.entry + passing * fetched) + ranges
    case .natural where order.isByID:
      // All entries are collected and sorted by id; only the records that are wanted are read.
      let collected = entries * (Cost.entry + Cost.sortedID) + ranges
      cost = collected + (read - skipped) * fetched
      certain = collected + entries * passing * fetched
    case .natural, .sort, .groups, .merge:
      cost = entries * (Cost.entry + passing * (fetched + Cost.sortedRecord)) + ranges
      certain = cost
    }
    return finished(
      .index(access), matches: Int(entries * passing), cost: cost, certainCost: certain,
      covered: access.covered)
  }

  /// The share of the entries of `access` that pass its filter.
  func passingShare(of access: IndexAccess) -> Double {
    share(ofClauses: access.filter?.clauses.subtracting(access.clauses) ?? [])
  }

  /// The share of the records that pass the clauses that the entries of `access` do not prove.
  func share(ofAllBut access: IndexAccess) -> Double {
    let known = access.clauses.union(access.filter?.clauses ?? [])
    return share(ofClauses: clauses.indices.filter { !known.contains($0) })
  }

  /// The share of the records that pass some clauses, as if none of these followed from another.
  ///
  /// Of clauses that an index is about, it is the share of its entries.
  private func share(ofClauses positions: some Sequence<Int>) -> Double {
    var rest = positions.filter { !clauses[$0].isAlways && !clauses[$0].leavesOutIDs }
    var share = 1.0
    for part in known.parts where !rest.isEmpty && part.clauses.allSatisfy(rest.contains) {
      share *= part.share
      rest.removeAll(where: part.clauses.contains)
    }
    for _ in rest { share *= Cost.unknownShare }
    return share
  }

  /// Whether the entries alone answer the query.
  func isAnsweredByEntries(_ access: IndexAccess) -> Bool {
    guard request.wantsOnlyEntries, request.after == nil else { return false }
    return clauses.indices.allSatisfy { clauses[$0].isAlways || access.covered.contains($0) }
  }

  /// The records that so few entries lead to are read rather than intersected.
  private static let mostFewEntries = 16
  /// How many entries of a second index are worth the reading of a record in memory: one costs some
  /// 200 nanoseconds, an entry with the sorting of its id some 40.
  private static let mostEntriesPerRecord = 3

  /// The intersection of two indexes.
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
    let common =
      Double(first.estimatedEntryCount) / total * Double(second.estimatedEntryCount)
    let covered = first.covered.union(second.covered)
    let costs = collectingCosts(
      entries * Cost.entry * 2 + 2 * Cost.range, matches: common,
      restCount: clauses.count - covered.count)
    return finished(
      .intersection([first, second]), matches: Int(common), cost: costs.expected,
      certainCost: costs.certain, covered: covered)
  }

  /// The costs of collecting ids, and of reading the records of `matches` of them in their order.
  ///
  /// A limit ends the reading early where no other order is asked for.
  ///
  /// - Parameter restCount: how many parts of the condition are checked on the records.
  func collectingCosts(
    _ collected: Double, matches: Double, restCount: Int
  ) -> (expected: Double, certain: Double) {
    let each = Cost.fetchedRecord + Cost.sortedRecord
    let certain = collected + matches * each
    guard order.isByID, let wanted = request.wantedCount else { return (certain, certain) }
    let share = share(of: 0..<max(0, restCount))
    return (collected + min(matches, Double(wanted) / share) * each, certain)
  }

  /// A walk of the whole of `index` for its order, or for the beginning of it.
  private func orderedWalk(
    of index: StoredIndex, _ accesses: [IndexAccess]
  ) throws -> QueryPlan? {
    // If records have to be checked, the first that passes may be at the end of the index.
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
    let fetched = isAnsweredByEntries(access) ? 0 : Cost.fetchedRecord
    let each = Cost.entry + passingShare(of: access) * fetched
    let skipped = share == 1 ? min(walked, Double(request.offset)) : 0
    return finished(
      .index(access), matches: Int(total * share),
      cost: walked * each - skipped * fetched + Cost.range,
      certainCost: total * each + Cost.range, covered: access.covered)
  }

  /// A walk in the order of an index that gives the first terms of the order: records that are
  /// equal in these are sorted together.
  private func groupedPlan(_ access: IndexAccess, share: Double? = nil) throws -> QueryPlan? {
    guard let wanted = request.wantedCount, let groups = order.groups(in: access),
      let range = access.ranges.first
    else { return nil }
    let entries = Double(access.estimatedEntryCount)
    let share = share ?? passingShare(of: access) * self.share(ofAllBut: access)
    let size = try statistics.groupSize(
      access.index, range, groups.attributeCount, groups.isReversed)
    let walked = min(entries, Double(wanted) / share + Double(size))
    let each = Cost.entry + Cost.fetchedRecord + Cost.sortedRecord
    return finished(
      .index(access), matches: Int(entries * share), cost: walked * each + Cost.range,
      certainCost: entries * each + Cost.range, covered: access.covered,
      arrangement: .groups(groups))
  }

  // MARK: The whole

  /// - Parameter certainCost: the cost when fewer records than expected fulfil the condition.
  func finished(
    _ access: AccessPath, matches: Int, cost: Double, certainCost: Double? = nil,
    covered: Set<Int> = [], arrangement: QueryPlan.Arrangement? = nil
  ) -> QueryPlan {
    let positions = clauses.indices.filter { !clauses[$0].isAlways && !covered.contains($0) }
    let rest = positions.map { clauses[$0] }
    let residual = rest.isEmpty ? nil : rest.count == 1 ? rest[0] : .all(rest)
    let arrangement = arrangement ?? order.arrangement(for: access, request: request)
    var sorting = 0.0
    if case .sort = arrangement { sorting = Double(matches) * Cost.sortedRecord }
    return QueryPlan(
      subject: subject, access: access, residual: residual, arrangement: arrangement,
      cost: cost + sorting,
      certainCost: (residual == nil ? cost : certainCost ?? cost) + sorting,
      estimatedMatchCount: matches)
  }
}

/// The shares of the records that pass some clauses, by the estimates of indexes, the lowest first.
///
/// An object, so that the planner need not be copied when they are known.
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
  /// How many records are needed from the beginning of the order.
  var wantedCount: Int? {
    limit.map { limit in
      let (sum, overflows) = limit.addingReportingOverflow(offset)
      return overflows ? .max : sum
    }
  }
}
