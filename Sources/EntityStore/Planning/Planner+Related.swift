internal import LodestoreFormat

/// Access to records that lead to the results of another query: the other query runs first, and its
/// results are followed back by links.
struct RelatedAccess: Sendable {
  let test: RelatedTest
  /// The plan of the query for the related records.
  let target: QueryPlan
  let estimatedLinkCount: Int

  /// The index of the links back from the related records, or of the attribute of theirs that holds
  /// the ids.
  var index: StoredIndex { test.end.opposite.links ?? test.end.relationship.linksTo }
}

extension Planner {
  /// Returns the access to the records for which `clause` is true, starting from their related
  /// records.
  ///
  /// Returns `nil` if `clause` is no test of related records, or only tests whether there are any.
  func relatedAccess(of clause: BoundCondition) throws -> RelatedAccess? {
    guard case .related(let test) = clause, !test.isOfExistence else { return nil }
    let (target, linkCount) = try statistics.related(test)
    guard !request.requiresIndex || !target.isScan else { return nil }
    let matches = Double(max(1, target.estimatedMatchCount))
    let links = matches * Double(linkCount) / Double(max(1, target.recordCount))
    return RelatedAccess(
      test: test, target: target, estimatedLinkCount: Int(min(links.rounded(.up), 1e15)))
  }

  /// Returns the plan that follows links back from the related records.
  func plan(_ access: RelatedAccess, covering position: Int) -> QueryPlan {
    let matches = min(access.estimatedLinkCount, statistics.recordCount)
    let links = Double(access.estimatedLinkCount)
    // If an attribute of the related records holds the ids, each related record is read.
    let back =
      access.test.end.opposite.links == nil
      ? Double(access.target.estimatedMatchCount) * Cost.fetchedRecord
      : Double(access.target.estimatedMatchCount) * Cost.range + links * Cost.entry
    let cost =
      access.target.cost + back + links * Cost.entry + Double(matches)
      * (fetchingCost(covering: [position]) + Cost.sortedRecord)
    return finished(.related(access), matches: matches, cost: cost, covered: [position])
  }
}
