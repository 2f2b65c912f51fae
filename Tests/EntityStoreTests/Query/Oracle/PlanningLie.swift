import LMDB

@testable import EntityStore

/// The statistics that the planner gets, so that a few hundred records get every plan there is.
enum PlanningLie: CaseIterable {
  /// The truth, by which most conditions on few records are scans.
  case none
  /// Many more records than there are: indexes pay.
  case manyRecords
  /// Many records, and estimates that have nothing to do with the data: any index is chosen.
  case anyIndex
  /// All records must be read.
  case scan

  func plan(
    _ request: QueryRequest, for entity: StoredEntity, core: TransactionCore,
    _ random: inout SeededNumbers
  ) throws -> QueryPlan {
    var request = request
    if self == .scan { request.forcesScan = true }
    if self == .none || self == .scan { return try core.plan(request, for: entity) }
    let condition = NormalForm.of(try ConditionBinding.bind(request.condition, to: entity))
    let order = try BoundOrder(request.order, ConditionBinding(entity))
    try request.after?.check(request, entity)
    let isRandom = self == .anyIndex
    var estimates = random
    let statistics = PlannerStatistics(
      recordCount: try core.count(of: entity) * 10_000, related: { try core.related($0) },
      estimate: { index, range in
        let estimate = try core.transaction.estimatedCount(of: index.tree, within: range.keys)
        return isRandom ? estimates.below(40) : estimate
      },
      ids: { try core.ids(of: entity) },
      groupSize: { index, range, attributeCount, isReversed in
        let size = try core.groupSize(index, range, attributeCount, isReversed: isReversed)
        return isRandom ? estimates.below(40) : size
      },
      firstElements: { try core.firstElements($0, atMost: $1) },
      ends: { try core.ends(of: $0, $1) },
      keys: { try core.keys(of: $1, in: $0, of: entity, behind: $2) })
    var plan = try Planner(
      request, condition: condition, order: order, entity: entity, statistics: statistics
    ).plan()
    if let alternative = plan.alternative {
      plan = plan.with(alternative: .init(alternative.plan, recordLimit: estimates.below(60)))
    }
    _ = random.next()
    return plan
  }
}
