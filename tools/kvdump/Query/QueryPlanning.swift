import EntityStore

/// Plans a query, and runs it when what it reads is to be measured.
struct QueryPlanning {
  let entity: StoredEntity
  let core: TransactionCore
  /// Whether only the number of results is asked for.
  let isCounted: Bool
  let isAnalyzed: Bool

  func report(_ request: QueryRequest) throws -> PlanReport {
    var request = request
    // A count needs no order.
    if isCounted { request.order = [] }
    let plan = try core.plan(request, for: entity)
    var measurement: PlanReport.Measurement?
    if isAnalyzed {
      let run = try PlanRun(plan, core: core)
      let start = ContinuousClock.now
      if isCounted {
        _ = try run.count()
      } else {
        try run.forEach { _, _ in true }
      }
      measurement = PlanReport.Measurement(
        counts: run.counts, duration: ContinuousClock.now - start)
    }
    return PlanReport(entity: entity.name, plan: plan.description, measurement: measurement)
  }
}
