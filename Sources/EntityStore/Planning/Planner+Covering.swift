internal import LodestoreFormat

extension Planner {
  /// Returns the plan that reads the fewest entries of one index that decides the whole condition
  /// and contains `attributes`.
  ///
  /// - Returns: the plan, or `nil` if no index serves or the plan would cost more than `cost`.
  func plan(covering attributes: [UInt32], below cost: Double) throws -> QueryPlan? {
    guard !request.forcesScan, request.ids == nil else { return nil }
    var best: (access: IndexAccess, cost: Double)?
    for index in entity.indexes {
      let stored = index.description.attributes
      guard attributes.allSatisfy(stored.contains) else { continue }
      let constrained = try IndexAccess(index, constraints, statistics)
      var ways = [
        (constrained ?? IndexAccess(whole: index, count: statistics.recordCount), steps: 0)
      ]
      let mostSteps = Int(min(cost / (4 * Self.stepCost), 4_096))
      if constrained == nil, let skipping = try skippingAccess(by: index, atMost: mostSteps) {
        ways.append((skipping, steps: skipping.rangeCount))
      }
      for (way, steps) in ways {
        let access = way.filtered(by: clauses)
        guard clauses.indices.allSatisfy({ clauses[$0].isAlways || access.covered.contains($0) })
        else { continue }
        let ranges = Double(min(access.rangeCount, 1 << 20)) * Cost.range
        let entries = Double(access.estimatedEntryCount) * (Cost.entry + Cost.sortedID)
        let next = entries + ranges + Double(steps) * Self.stepCost
        let isBetter =
          best.map { best in
            (next, stored.count) < (best.cost, best.access.index.description.attributes.count)
          } ?? true
        if isBetter { best = (access, next) }
      }
    }
    guard let best, best.cost < cost else { return nil }
    return finished(
      .index(best.access), matches: best.access.estimatedEntryCount, cost: best.cost,
      covered: best.access.covered, arrangement: .natural(isReversed: false))
  }
}

extension Planner {
  /// Returns the plan that reads the fewest entries of an index in which `attributes` are in order.
  ///
  /// The index must begin with `attributes`, or have them after attributes that the condition fixes
  /// to one value.
  func plan(steppingOver attributes: [UInt32]) throws -> QueryPlan? {
    guard !request.forcesScan, request.ids == nil else { return nil }
    var best: QueryPlan?
    for index in entity.indexes {
      let stored = index.description.attributes
      guard stored.contains(attributes[0]) else { continue }
      let constrained = try IndexAccess(index, constraints, statistics)
      let access = (constrained ?? IndexAccess(whole: index, count: statistics.recordCount))
        .filtered(by: clauses)
      guard access.isWalked,
        stored.starts(with: attributes)
          || stored.dropFirst(access.fixedCount).starts(with: attributes)
      else { continue }
      let next = finished(
        .index(access), matches: access.estimatedEntryCount,
        cost: Double(access.estimatedEntryCount) * Cost.entry, covered: access.covered,
        arrangement: .natural(isReversed: false))
      let isBetter =
        best.map { best in
          if (next.residual == nil) != (best.residual == nil) { return next.residual == nil }
          return next.cost < best.cost
        } ?? true
      if isBetter { best = next }
    }
    return best
  }
}

extension TransactionCore {
  /// Returns a plan by the entries of one index that decides the condition of `plan` and contains
  /// `attributes`, if it costs less.
  func plan(
    covering attributes: [UInt32], insteadOf plan: QueryPlan
  ) throws(StoreError) -> QueryPlan? {
    try other(than: plan, for: .covering(attributes)) {
      try $0.plan(covering: attributes, below: plan.cost)
    }
  }

  /// Returns a plan by an index in which the values of `attributes` are in order, if there is one.
  func plan(
    steppingOver attributes: [UInt32], insteadOf plan: QueryPlan
  ) throws(StoreError) -> QueryPlan? {
    try other(than: plan, for: .stepping(attributes)) { try $0.plan(steppingOver: attributes) }
  }

  private func other(
    than plan: QueryPlan, for purpose: DerivedPlan.Purpose, _ choose: (Planner) throws -> QueryPlan?
  ) throws(StoreError) -> QueryPlan? {
    guard plan.cost > Planner.Cost.otherPlan else { return nil }
    return try self.plan(for: purpose, from: plan) { () throws(StoreError) in
      let statistics = try PlannerStatistics(of: plan.entity, core: self)
      return try wrappingErrors {
        try choose(
          Planner(
            plan.request, condition: plan.condition, order: plan.order, entity: plan.entity,
            statistics: statistics))
      }
    }
  }
}
