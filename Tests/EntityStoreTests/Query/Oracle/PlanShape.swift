@testable import EntityStore

/// What a plan does, coarsely: each must come up in a test of random conditions.
enum PlanShape: String, CaseIterable {
  case nothing, scan, ids, idRange, points, manyPoints, range, manyRanges, union, intersection
  case byID, byIDBackwards, indexForwards, indexBackwards, heap, sort
  case groupsForwards, groupsBackwards, withAlternative

  /// The shapes of `plan`: of its access path, and of how it brings about the order.
  static func shapes(of plan: QueryPlan) -> [PlanShape] {
    [access(plan.access), arrangement(plan.arrangement)]
      + (plan.alternative == nil ? [] : [.withAlternative])
  }

  private static func access(_ path: AccessPath) -> PlanShape {
    switch path {
    case .nothing: .nothing
    case .scan: .scan
    case .ids: .ids
    case .idRange: .idRange
    // The oracle has neither relationships nor indexes over elements.
    case .union, .related, .elements: .union
    case .intersection: .intersection
    case .index(let access):
      if case .points = access.span {
        access.rangeCount > 1 ? .manyPoints : .points
      } else {
        access.rangeCount > 1 ? .manyRanges : .range
      }
    }
  }

  private static func arrangement(_ arrangement: QueryPlan.Arrangement) -> PlanShape {
    switch arrangement {
    case .natural(let isReversed): isReversed ? .byIDBackwards : .byID
    case .index(let isReversed): isReversed ? .indexBackwards : .indexForwards
    case .groups(let groups): groups.isReversed ? .groupsBackwards : .groupsForwards
    case .sort(let kept): kept == nil ? .sort : .heap
    }
  }
}
