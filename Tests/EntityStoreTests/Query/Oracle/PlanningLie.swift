import LMDB

@testable import EntityStore

/// False statistics for the planner, so that every kind of plan occurs for a few hundred records.
enum PlanningLie: CaseIterable {
  /// The true statistics, with which most conditions on few records use a scan.
  case none
  /// Statistics of many more records than there are, so that indexes are cheaper than a scan.
  case manyRecords
  /// Statistics of many records, with random estimates, so that any index may be chosen.
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
    let bound = try ConditionBinding.bind(request.condition, to: entity)
    let condition = NormalForm.of(bound)
    var binding = ConditionBinding(entity)
    binding.near = bound.onlyNear
    let order = try BoundOrder(request.order, binding)
    try request.after?.check(request, entity)
    let isRandom = self == .anyIndex
    var estimates = random
    let statistics = PlannerStatistics(
      recordCount: try core.count(of: entity) * 10_000, related: { try core.related($0) },
      // The conditions of the oracle have no searches.
      searchCount: { _ in 0 },
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
