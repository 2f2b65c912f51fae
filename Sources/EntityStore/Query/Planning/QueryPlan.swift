internal import LodestoreFormat

/// How a query is run: where its records are looked for, what is checked on each, and how they are
/// put in order.
struct QueryPlan: Sendable {
  enum Arrangement: Sendable {
    /// By record id.
    case natural(isReversed: Bool)
    /// As the entries of the one index range come.
    case index(isReversed: Bool)
    /// Sorted by the keys of the order; `keeping` only the first, where not all are needed.
    case sort(keeping: Int?)
  }

  let entity: StoredEntity
  let access: AccessPath
  /// What is still to be checked on each record.
  let residual: BoundCondition?
  /// The positions of its parts in the conjunction.
  let residualClauses: Set<Int>
  /// The whole condition.
  let condition: BoundCondition
  let arrangement: Arrangement
  let order: BoundOrder
  let request: QueryRequest
  /// In nanoseconds, as far as the planner can tell.
  let cost: Double
  let estimatedMatchCount: Int
  let recordCount: Int

  /// Whether all records may be read.
  var isScan: Bool {
    if case .scan = access { true } else { false }
  }

  /// Whether the entries of the access path alone say which records match.
  var isAnsweredByEntries: Bool { residual == nil }
}

extension TransactionCore {
  /// Binds `request` to `entity` and chooses how to run it.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` with what cannot be used, before any record is read.
  func plan(
    _ request: QueryRequest, for entity: StoredEntity
  ) throws(StoreError) -> QueryPlan {
    try writeElements()
    let condition = try ConditionBinding.bind(
      request.condition, to: entity, positions: request.positions, schema: schema)
    tracker?.note(condition)
    let binding = ConditionBinding(entity, request.positions, schema)
    let order = try BoundOrder(request.order, binding)
    try request.checkWindow()
    try request.after?.check(request, entity)
    return try plan(request, condition: condition, order: order, for: entity)
  }

  private func plan(
    _ request: QueryRequest, condition: BoundCondition, order: BoundOrder,
    for entity: StoredEntity
  ) throws(StoreError) -> QueryPlan {
    let statistics = PlannerStatistics(
      recordCount: try count(of: entity), related: { try self.related($0) }
    ) { index, range in
      try self.transaction.estimatedCount(of: index.tree, within: range.keys)
    }
    do {
      return try Planner(
        request, condition: condition, order: order, entity: entity, statistics: statistics
      ).plan()
    } catch {
      throw StoreError(wrapping: error)
    }
  }

  /// How the records that `test` asks of are found.
  func related(
    _ test: RelatedTest
  ) throws(StoreError) -> (target: QueryPlan, linkCount: Int) {
    var request = QueryRequest()
    request.wantsOnlyEntries = true
    let order = try BoundOrder([], ConditionBinding(test.end.target))
    let target = try plan(request, condition: test.condition, order: order, for: test.end.target)
    do {
      return (target, try transaction.count(of: test.end.relationship.linksTo.tree))
    } catch {
      throw StoreError(error)
    }
  }
}
