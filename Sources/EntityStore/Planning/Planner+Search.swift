internal import LodestoreFormat
import LodestoreSystem

/// Access to records by words of their texts.
struct SearchAccess: Sendable {
  let search: BoundSearch
  let estimatedMatchCount: Int
  /// Another way to the wanted records, whose ids are collected first.
  ///
  /// The search then reads the postings of these records only.
  var beside: Beside?

  struct Beside: Sendable {
    var path: AccessPath
    var estimatedEntryCount: Int
    /// The cost of collecting the ids.
    var cost: Double
    /// The clauses that the way decides.
    var covered: Set<Int>
    /// The clauses from which the way results.
    var clauses: Set<Int>
  }

  /// The access as text for plans.
  var text: String {
    "\(search.index.entries.name) for \(search.text), about \(estimatedMatchCount) "
      + (estimatedMatchCount == 1 ? "record" : "records")
  }
}

extension Planner {
  /// Returns the plans by a search index for the search `clause`; none for another clause.
  ///
  /// The second plan collects the records of the narrowest other index or search first.
  func searchPlans(
    of clause: BoundCondition, covering position: Int, beside accesses: [IndexAccess]
  ) throws -> [QueryPlan] {
    guard case .search(let search) = clause, !search.index.isBuilding else { return [] }
    let matches = min(try statistics.searchCount(search), statistics.recordCount)
    let access = SearchAccess(search: search, estimatedMatchCount: matches)
    let alone = plan(access, covering: [position], among: [])
    guard let beside = try narrowest(accesses, besides: position) else { return [alone] }
    let share = Double(beside.estimatedEntryCount) / Double(max(1, statistics.recordCount))
    let both = SearchAccess(
      search: search, estimatedMatchCount: Int((Double(matches) * min(1, share)).rounded(.up)),
      beside: beside)
    let plan = plan(both, covering: beside.covered.union([position]), among: beside.clauses)
    return [alone, plan]
  }

  private func plan(
    _ access: SearchAccess, covering covered: Set<Int>, among known: Set<Int>
  ) -> QueryPlan {
    let matches = Double(access.estimatedMatchCount)
    let wanted = Double(request.wantedCount ?? access.estimatedMatchCount)
    let rest = clauses.indices.filter { !covered.contains($0) && !known.contains($0) }
    let isDecided = clauses.indices.allSatisfy { clauses[$0].isAlways || covered.contains($0) }
    let share = max(share(ofClauses: rest), 1e-9)
    let read: Double
    switch order.arrangement(for: .search(access), request: request) {
    case .ranked:
      // A record is checked if it is among the best so far. With scores in any order, the number of
      // these records grows with the logarithm of the matches.
      let best = wanted / share
      read = min(matches, isDecided ? wanted : best * (1 + log(max(1, matches / max(1, best)))))
    case .natural where order.isByID: read = min(matches, wanted / share)
    default: read = matches
    }
    // The search leads to the records of the other way, or the other way round.
    let walked = access.beside.map { max(matches, Double($0.estimatedEntryCount)) } ?? matches
    let cost =
      10 * Cost.range + walked * Cost.entry + (access.beside?.cost ?? 0)
      + read * fetchingCost(covering: covered)
    return finished(
      .search(access), matches: access.estimatedMatchCount, cost: cost, covered: covered)
  }

  /// The index or the other search that finds the fewest records.
  private func narrowest(
    _ accesses: [IndexAccess], besides position: Int
  ) throws -> SearchAccess.Beside? {
    var ways = accesses.map { access in
      let entries = access.estimatedEntryCount
      return SearchAccess.Beside(
        path: .index(access), estimatedEntryCount: entries,
        cost: Double(entries) * (Cost.entry + Cost.sortedID)
          + Double(min(access.rangeCount, 1 << 20)) * Cost.range,
        covered: access.covered, clauses: access.clauses)
    }
    for (other, clause) in clauses.enumerated() where other != position {
      guard case .search(let search) = clause, !search.index.isBuilding else { continue }
      let matches = min(try statistics.searchCount(search), statistics.recordCount)
      ways.append(
        SearchAccess.Beside(
          path: .search(SearchAccess(search: search, estimatedMatchCount: matches)),
          estimatedEntryCount: matches, cost: Double(matches) * Cost.entry + 10 * Cost.range,
          covered: [other], clauses: [other]))
    }
    return ways.min { $0.estimatedEntryCount < $1.estimatedEntryCount }
  }

  /// The cost of reading a record by its id, and of analyzing its texts for the searches that the
  /// access does not cover.
  func fetchingCost(covering covered: Set<Int>) -> Double {
    if entity.computedIndexes.isEmpty { return Cost.fetchedRecord }
    return clauses.indices.reduce(Cost.fetchedRecord) { cost, position in
      covered.contains(position) ? cost : cost + clauses[position].searchCost
    }
  }
}

extension BoundCondition {
  /// The estimated time to analyze the texts of a record for the searches of the condition, in
  /// nanoseconds.
  fileprivate var searchCost: Double {
    var cost = 0.0
    _ = has { part in
      if case .search(let search) = part { cost += search.checkingCost }
      return false
    }
    return cost
  }
}
