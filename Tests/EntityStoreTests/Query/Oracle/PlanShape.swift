@testable import EntityStore

/// The coarse shapes of plans; each must occur in a test of random conditions.
enum PlanShape: String, CaseIterable {
  case nothing, scan, ids, idRange, points, manyPoints, range, manyRanges, union, intersection
  case byID, byIDBackwards, indexForwards, indexBackwards, heap, sort
  case groupsForwards, groupsBackwards, mergeForwards, mergeBackwards, rangesInOrder
  case behindFirsts, withAlternative

  /// The shapes of `plan`: of its access path, and of how it brings about the order.
  static func shapes(of plan: QueryPlan) -> [PlanShape] {
    [access(plan.access), arrangement(plan.arrangement)] + others(plan)
  }

  private static func others(_ plan: QueryPlan) -> [PlanShape] {
    var shapes: [PlanShape] = plan.alternative == nil ? [] : [.withAlternative]
    guard case .index(let access) = plan.access else { return shapes }
    if case .index = plan.arrangement, access.rangeCount > 1 { shapes.append(.rangesInOrder) }
    let first = access.index.description.attributes[0]
    let isAsked = IndexConstraints(plan.condition.conjuncts).hasSome(on: first)
    if access.pointCount > 0, !isAsked { shapes.append(.behindFirsts) }
    return shapes
  }

  private static func access(_ path: AccessPath) -> PlanShape {
    switch path {
    case .nothing: .nothing
    case .scan: .scan
    case .ids: .ids
    case .idRange: .idRange
    // The oracle has neither relationships nor computed indexes.
    case .union, .related, .elements, .search, .place, .vectors: .union
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
    case .merge(let isReversed): isReversed ? .mergeBackwards : .mergeForwards
    case .groups(let groups): groups.isReversed ? .groupsBackwards : .groupsForwards
    case .sort(let kept): kept == nil ? .sort : .heap
    case .ranked: .heap
    }
  }
}
