internal import LodestoreFormat

/// Records that lead to those which another query finds: that query first, then its links back.
struct RelatedAccess: Sendable {
  let test: RelatedTest
  /// The query for the records that are led to.
  let target: QueryPlan
  let estimatedLinkCount: Int

  /// Back from them, where the links have an index of their own.
  var index: StoredIndex { test.end.opposite.links ?? test.end.relationship.linksTo }
}

extension Planner {
  /// The way to the records of which `clause` is true from those that they lead to; `nil` where it is no
  /// test of these, or one that all of them may pass.
  func relatedAccess(of clause: BoundCondition) throws -> RelatedAccess? {
    guard case .related(let test) = clause, !test.isOfExistence else { return nil }
    let (target, linkCount) = try statistics.related(test)
    guard !request.requiresIndex || !target.isScan else { return nil }
    let matches = Double(max(1, target.estimatedMatchCount))
    let links = matches * Double(linkCount) / Double(max(1, target.recordCount))
    return RelatedAccess(
      test: test, target: target, estimatedLinkCount: Int(min(links.rounded(.up), 1e15)))
  }

  /// The plan by the links of related records.
  func plan(_ access: RelatedAccess, covering position: Int) -> QueryPlan {
    let matches = min(access.estimatedLinkCount, statistics.recordCount)
    let links = Double(access.estimatedLinkCount)
    // From an attribute of the records found, each of these is read.
    let back =
      access.test.end.opposite.links == nil
      ? Double(access.target.estimatedMatchCount) * Cost.fetchedRecord
      : Double(access.target.estimatedMatchCount) * Cost.range + links * Cost.entry
    let cost =
      access.target.cost + back + links * Cost.entry + Double(matches)
      * (Cost.fetchedRecord + Cost.sortedRecord)
    return finished(.related(access), matches: matches, cost: cost, covered: [position])
  }
}
