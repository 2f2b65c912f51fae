import EntityStore

/// Plans a query, and runs it when what it reads is to be measured.
struct QueryPlanning {
  let entity: DynamicEntity
  let snapshot: DynamicSnapshot
  /// Whether only the number of results is asked for.
  let isCounted: Bool
  let isAnalyzed: Bool

  func report(_ request: QueryRequest) throws -> PlanReport {
    var request = request
    // A count needs no order.
    if isCounted { request.order = [] }
    let query = try snapshot.query(request, of: entity)
    guard isAnalyzed else {
      return PlanReport(entity: entity.name, plan: query.explanation(), duration: nil)
    }
    let start = ContinuousClock.now
    let analysis = try query.analysis(isCounted: isCounted)
    return PlanReport(
      entity: entity.name, plan: analysis, duration: ContinuousClock.now - start)
  }
}
