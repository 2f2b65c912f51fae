internal import LodestoreFormat

/// Access to records by words of their texts.
struct SearchAccess: Sendable {
  let search: BoundSearch
  let estimatedMatchCount: Int

  /// The access as text for plans.
  var text: String {
    "\(search.index.entries.name) for \(search.text), about \(estimatedMatchCount) "
      + (estimatedMatchCount == 1 ? "record" : "records")
  }
}

extension Planner {
  /// Returns the plan by a search index for the search `clause`, or `nil` for another clause.
  func searchPlan(of clause: BoundCondition, covering position: Int) throws -> QueryPlan? {
    guard case .search(let search) = clause else { return nil }
    let matches = min(try statistics.searchCount(search), statistics.recordCount)
    let access = SearchAccess(search: search, estimatedMatchCount: matches)
    let read: Double
    switch order.arrangement(for: .search(access), request: request) {
    case .ranked:
      let share = share(ofClauses: clauses.indices.filter { $0 != position })
      read = min(Double(matches), Double(request.wantedCount ?? matches) / max(share, 1e-9))
    case .natural where order.isByID:
      read = min(Double(matches), request.wantedCount.map(Double.init) ?? Double(matches))
    default: read = Double(matches)
    }
    let cost = 10 * Cost.range + Double(matches) * Cost.entry + read * Cost.fetchedRecord
    return finished(.search(access), matches: matches, cost: cost, covered: [position])
  }
}
