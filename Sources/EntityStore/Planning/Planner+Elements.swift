internal import LodestoreFormat

extension Planner {
  /// Returns the plan by an element index for the comparison `clause`, or `nil` if none exists.
  func elementPlan(of clause: BoundCondition, covering position: Int) throws -> QueryPlan? {
    guard case .expression(let comparison) = clause, let elements = comparison.elements,
      let index = entity.elementIndexes.first(where: {
        $0.description.attribute == elements.attribute
          && elements.path.hasSameBytes(as: $0.description.path)
      }),
      let access = try IndexAccess(
        index.entries, IndexConstraints([.test(elements.test)]), statistics)
    else { return nil }
    let entries = Double(access.estimatedEntryCount)
    let isExact = elements.isExact && !access.covered.isEmpty
    let cost =
      entries * (Cost.entry * 2 + fetchingCost(covering: [position]))
      + Double(min(access.rangeCount, 1 << 20)) * Cost.range
    return finished(
      .elements(access), matches: min(access.estimatedEntryCount, statistics.recordCount),
      cost: cost, covered: isExact ? [position] : [])
  }
}
