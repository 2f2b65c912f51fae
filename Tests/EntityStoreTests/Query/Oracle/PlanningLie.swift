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
    binding.condition = bound
    let order = try BoundOrder(request.order, binding)
    try request.after?.check(request, entity)
    let statistics = FalseStatistics(
      of: entity, core: core, recordCount: try core.count(of: entity) * 10_000)
    statistics.random = random
    statistics.isRandom = self == .anyIndex
    var plan = try Planner(
      request, condition: condition, order: order, entity: entity, statistics: statistics
    ).plan()
    if let alternative = plan.alternative {
      plan = plan.with(
        alternative: .init(alternative.plan, recordLimit: statistics.random.below(60)))
    }
    _ = random.next()
    return plan
  }
}

/// Statistics with a false number of records, and with random estimates if asked for.
private final class FalseStatistics: PlannerStatistics {
  var random = SeededNumbers(seed: 0)
  var isRandom = false

  override func estimate(_ index: StoredIndex, _ range: IndexRange) throws -> Int {
    let estimate = try super.estimate(index, range)
    return isRandom ? random.below(40) : estimate
  }

  override func groupSize(
    _ index: StoredIndex, _ range: IndexRange, _ attributeCount: Int, isReversed: Bool
  ) throws -> Int {
    let size = try super.groupSize(index, range, attributeCount, isReversed: isReversed)
    return isRandom ? random.below(40) : size
  }
}
