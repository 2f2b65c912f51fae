/// The reads of a perfect planner for a query: the numbers of entries and records that it reads.
///
/// The search knows the exact counts of matches. Each of these plans is priced if it can answer the
/// query:
///
/// - *Scan*: all records, or those within the bounds on the id.
/// - *Index*: the entries within the range that the condition bounds on the first attributes of the
///   index (single values, then one range). Records are added for entries that pass the other
///   conditions, unless the entries answer the query alone. If the entries have the query's order,
///   or the beginning of it, only entries up to the last result, or to the end of its group, count.
/// - *Steps* through an index whose first attributes are single values: one for each distinct
///   value, or one for the least and the greatest. A first attribute of few values without a bound
///   will do, too.
/// - *Intersection* of two indexes, and the *union* of the best index for each part of an OR.
///
/// An entry and a record of a scan cost 1, a record that is looked up 10, as in the planner. The
/// best way costs the least. Ways of nearly the same cost may differ much in their number of reads,
/// so a way that costs at most half more than the best counts as equally good.
struct BestPlan: Sendable {
  var way: String
  var entries = 0
  /// The number of records that a scan reads, one after the other.
  var scanned = 0
  /// The number of records that are looked up through an index.
  var lookedUp = 0

  var reads: Int { entries + scanned + lookedUp }
  var cost: Int { entries + scanned + 10 * lookedUp }

  /// More than twice the reads of the best plan are a fault of the planner.
  ///
  /// This number of further reads is allowed, because records are looked up in batches.
  static let allowance = 32

  /// Whether `count` reads are too many.
  func isExceeded(by count: Int) -> Bool { count > 2 * reads + Self.allowance }

  /// The plan of lowest cost.
  ///
  /// Among plans that cost at most half more, returns the one with the most reads, because all of
  /// these are acceptable.
  static func best(of plans: [BestPlan]) -> BestPlan? {
    guard let least = plans.map(\.cost).min() else { return nil }
    return plans.filter { 2 * $0.cost <= 3 * least }.max { $0.reads < $1.reads }
  }
}

/// Known facts about the records.
protocol BatteryFacts {
  /// The number of records that fulfil all conditions.
  func count(_ conditions: [BatteryCondition], of subject: BatteryQuery.Subject) throws -> Int
  /// The id and the order's attributes of the result at a place of a query without limit; nil if
  /// there are fewer results.
  func result(at place: Int, of query: BatteryQuery) throws -> [String: BatteryLiteral]?
}

/// The ways to run one query.
struct BestPlanSearch<Facts: BatteryFacts> {
  let query: BatteryQuery
  let indexes: [[String]]
  let facts: Facts
  let recordCount: Int
  /// The number of results, groups or values in the answer.
  let answerCount: Int
  /// The attributes with few distinct values, and the number of these values.
  let fewValues = ["low": 5, "flag": 2, "state": 3, "n01": 10]
  private let conjuncts: [BatteryCondition]
  /// The last requested result, at which a query with a limit can end; `nil` if the query reads all
  /// results.
  private let last: [String: BatteryLiteral]?

  init(
    _ query: BatteryQuery, indexes: [[String]], facts: Facts, recordCount: Int, answerCount: Int
  ) throws {
    self.query = query
    self.indexes = indexes
    self.facts = facts
    self.recordCount = recordCount
    self.answerCount = answerCount
    conjuncts = query.condition.conjuncts
    last = try query.wantedCount.flatMap { try facts.result(at: $0 - 1, of: query) }
  }

  func best() throws -> BestPlan {
    var plans = [try scan()]
    for index in indexes {
      if let plan = try walk(index) { plans.append(plan) }
      if let plan = try steps(index) { plans.append(plan) }
      if let plan = try skipScan(index) { plans.append(plan) }
    }
    plans += try intersections()
    if let plan = try union() { plans.append(plan) }
    return BestPlan.best(of: plans) ?? plans[0]
  }

  private func count(_ conditions: [BatteryCondition]) throws -> Int {
    conditions.isEmpty ? recordCount : try facts.count(conditions, of: query.subject)
  }

  // MARK: One after the other

  private func scan() throws -> BestPlan {
    if case .count = query.answer, conjuncts.isEmpty, query.limit == nil {
      return BestPlan(way: "number of records")
    }
    var bounds = conjuncts.compactMap { $0.bound(on: "_id") }
    if query.order.isEmpty { bounds += reached([]) }
    return BestPlan(way: "scan", scanned: try count(bounds))
  }

  // MARK: An index

  /// The range of an index that the condition bounds.
  private struct Range {
    var bounds: [BatteryCondition] = []
    /// The number of leading attributes for which the condition allows one value.
    var singleCount = 0
    /// The number of leading attributes that the condition bounds.
    var boundCount = 0
  }

  private func range(_ index: [String]) -> Range {
    var range = Range()
    var isPoints = true
    for name in index where isPoints {
      let bounds = conjuncts.compactMap { $0.bound(on: name) }
      if bounds.isEmpty { break }
      range.bounds += bounds
      range.boundCount += 1
      isPoints = bounds.contains(where: \.isPoints)
      if bounds.contains(where: \.isPoint), range.singleCount == range.boundCount - 1 {
        range.singleCount += 1
      }
    }
    return range
  }

  /// The terms of the order that remain if leading attributes of the index have only one value.
  private func order(_ index: [String], _ range: Range) -> [BatteryQuery.Term] {
    query.order.filter { !index.prefix(range.singleCount).contains($0.name) }
  }

  /// The number of terms of the order that a walk of the index provides.
  private func servedCount(
    _ order: [BatteryQuery.Term], _ index: [String], _ range: Range
  ) -> Int {
    // Entries of several ranges are not in the query's order.
    guard range.boundCount <= range.singleCount + 1 else { return 0 }
    if range.boundCount > range.singleCount, range.bounds.contains(where: isOfSeveralRanges) {
      return 0
    }
    return zip(order, index.dropFirst(range.singleCount)).prefix { term, name in
      term.name == name && term.isDescending == order.first?.isDescending
    }.count
  }

  private func isOfSeveralRanges(_ bound: BatteryCondition) -> Bool {
    switch bound {
    case .isIn, .any, .not, .compare(_, .notEqual, _): true
    default: false
    }
  }

  private func needsRecords(_ index: [String]) -> Bool {
    guard let names = query.answerNames else { return true }
    return !(names.allSatisfy(index.contains) && conjuncts.allSatisfy { $0.isTold(by: index) })
  }

  private func walk(_ index: [String]) throws -> BestPlan? {
    let range = range(index)
    let order = order(index, range)
    let served = servedCount(order, index, range)
    let needsRecords = needsRecords(index)
    if range.bounds.isEmpty, served == 0, needsRecords { return nil }
    let told = conjuncts.filter { $0.isTold(by: index) }
    var entryBounds = range.bounds
    var recordBounds = range.bounds + told
    if query.limit != nil, served > 0 || !query.order.isEmpty && order.isEmpty {
      let terms = Array(order.prefix(served))
      let isWhole = served == order.count
      // After further attributes the ids of a group are in another order, so all its entries are
      // read.
      let isByID = isWhole && range.singleCount + served >= index.count
      entryBounds += reached(terms, isWhole: isByID)
      recordBounds += reached(terms, isWhole: isWhole)
    } else if query.limit != nil, query.order.isEmpty {
      let reached = reached([])
      // Entries of one key are in the order of ids.
      if range.singleCount == index.count { entryBounds += reached }
      recordBounds += reached
    }
    var plan = BestPlan(way: "index \(index.joined(separator: "+"))")
    plan.entries = try count(entryBounds)
    let isSorted = !order.allSatisfy { index.contains($0.name) }
    if needsRecords || isSorted {
      let isToldWhole = told.count == conjuncts.count
      let skipsEntries = isToldWhole && served == order.count && query.limit != nil
      plan.lookedUp = skipsEntries ? answerCount : try count(recordBounds)
    }
    return plan
  }

  /// Returns the condition that a record comes at or before the last requested result.
  private func reached(
    _ order: [BatteryQuery.Term], isWhole: Bool = true
  ) -> [BatteryCondition] {
    guard let last else { return [] }
    var isReached: BatteryCondition?
    if isWhole, let id = last["_id"] {
      isReached = .compare("_id", query.isTieDescending ? .atLeast : .atMost, id)
    }
    for term in order.reversed() {
      guard let value = last[term.name] else { return [] }
      let field = BatteryField(term.name)
      let before: BatteryCondition? =
        switch (value, term.isDescending) {
        case (.null, false): nil
        case (.null, true): field.isNotNull
        case (_, false): field < value || field.isNull
        case (_, true): field > value
        }
      let same = isReached.map { field == value && $0 } ?? (field == value)
      isReached = before.map { $0 || same } ?? same
    }
    return isReached.map { [$0] } ?? []
  }

  // MARK: Steps

  private func steps(_ index: [String]) throws -> BestPlan? {
    let range = range(index)
    // The aggregated attribute may itself be bounded.
    guard range.singleCount < index.count, range.boundCount <= range.singleCount + 1,
      range.bounds.count == conjuncts.count
    else { return nil }
    let way = "steps in \(index.joined(separator: "+"))"
    switch query.answer {
    case .minimum(index[range.singleCount]), .maximum(index[range.singleCount]):
      return BestPlan(way: way, entries: 1)
    case .distinct(index[range.singleCount]):
      return BestPlan(way: way, entries: 2 * answerCount)
    default: return nil
    }
  }

  private func skipScan(_ index: [String]) throws -> BestPlan? {
    guard index.count > 1, let values = fewValues[index[0]],
      conjuncts.allSatisfy({ $0.bound(on: index[0]) == nil })
    else { return nil }
    let bounds = conjuncts.compactMap { $0.bound(on: index[1]) }
    guard !bounds.isEmpty else { return nil }
    var plan = BestPlan(way: "steps over \(index[0])", entries: 2 * values + (try count(bounds)))
    if needsRecords(index) {
      plan.lookedUp = try count(
        bounds + conjuncts.filter { $0.isTold(by: index) }
          + (query.order.isEmpty ? reached([]) : []))
    }
    return plan
  }

  // MARK: Several indexes

  private func intersections() throws -> [BestPlan] {
    guard conjuncts.count > 1 else { return [] }
    var plans: [BestPlan] = []
    let bounded = indexes.map { ($0, range($0)) }.filter { !$0.1.bounds.isEmpty }
    for (place, first) in bounded.enumerated() {
      for second in bounded.dropFirst(place + 1) where first.0[0] != second.0[0] {
        let bounds = first.1.bounds + second.1.bounds
        var plan = BestPlan(way: "both \(first.0[0]) and \(second.0[0])")
        plan.entries = try count(first.1.bounds) + count(second.1.bounds)
        if needsRecords(first.0 + second.0) || !query.order.isEmpty {
          plan.lookedUp = try count(bounds + (query.order.isEmpty ? reached([]) : []))
        }
        plans.append(plan)
      }
    }
    return plans
  }

  /// The union of the best ranges for the parts of an OR.
  private func union() throws -> BestPlan? {
    for case .any(let parts) in conjuncts {
      var plan = BestPlan(way: "union of \(parts.count)")
      var bounds: [BatteryCondition] = []
      var isExact = true
      for part in parts {
        var part = query.with(part)
        part.limit = nil
        let search = try BestPlanSearch(
          part, indexes: indexes, facts: facts, recordCount: recordCount, answerCount: 0)
        guard let (entries, bound, isTold) = try search.tightest() else { return nil }
        plan.entries += entries
        bounds.append(bound)
        isExact = isExact && isTold
      }
      let hasOther = conjuncts.count > 1
      let needsAll: Bool =
        switch query.answer {
        case .ids, .count: !isExact || hasOther || !query.order.isEmpty
        default: true
        }
      if needsAll {
        plan.lookedUp = try count([.any(bounds)] + (query.order.isEmpty ? reached([]) : []))
      }
      return plan
    }
    return nil
  }

  /// The index, or the ids, with the fewest matching entries.
  ///
  /// Returns the number of entries, the condition on them, and whether they decide the whole
  /// condition.
  private func tightest() throws -> (Int, BatteryCondition, Bool)? {
    var best: (Int, BatteryCondition, Bool)?
    for index in indexes + [["_id"]] {
      let range = range(index)
      guard !range.bounds.isEmpty else { continue }
      let entries = index == ["_id"] ? 0 : try count(range.bounds)
      let bounds = range.bounds + conjuncts.filter { $0.isTold(by: index) }
      if best.map({ entries < $0.0 }) ?? true {
        best = (entries, .all(bounds), conjuncts.allSatisfy { $0.isTold(by: index) })
      }
    }
    return best
  }
}

extension BatteryQuery {
  func with(_ condition: BatteryCondition) -> BatteryQuery {
    var query = self
    query.condition = condition
    return query
  }
}
