internal import LMDB
internal import LodestoreFormat

extension PlanRun {
  /// Returns the ids of the records that lead to results of another query, ascending and without
  /// repetition.
  func collectIDs(_ access: RelatedAccess) throws -> [UInt64] {
    let run = try PlanRun(access.target, core: core)
    let targets = try run.ids()
    counts.entriesRead += run.counts.entriesRead
    counts.recordsRead += run.counts.recordsRead
    let back = access.test.end.opposite
    var ids: [UInt64] = []
    ids.reserveCapacity(min(access.estimatedLinkCount, 1 << 20))
    if let links = back.links {
      let cursor = try LinkCursor(links, core: core)
      for target in targets {
        try cursor.forEach(of: target) { id in
          try tick()
          counts.entriesRead &+= 1
          ids.append(id)
          return true
        }
      }
    } else if let attribute = back.attribute {
      let records = try Cursor(back.source.records, in: core.transaction)
      for target in targets where try records.seek(target) {
        try tick()
        counts.recordsRead &+= 1
        let view = try back.source.view(records.value, id: target)
        if let id = try back.source.recordID(ofAttribute: attribute.number, in: view) {
          ids.append(id)
        }
      }
    }
    IDSort.sortUnique(&ids)
    // Before the end of a write, links and ids may refer to missing records, which are left out
    // here.
    return core.isWrite ? try core.present(ids, of: entity) : ids
  }
}

extension ConditionEvaluator {
  /// The largest estimated number of matching related records for which an index is read.
  ///
  /// Beyond this number, the evaluator reads the related records of each tested record instead.
  private static var mostRelated: Int { 1 << 18 }

  /// Creates an evaluator that asks indexes for related records.
  convenience init(_ condition: BoundCondition, entity: StoredEntity, core: TransactionCore) {
    self.init(condition, entity: entity, core: core) { (test, core) throws(StoreError) in
      let plan = try core.target(of: test)
      guard !plan.isScan, plan.estimatedMatchCount <= Self.mostRelated else { return nil }
      return Set(try PlanRun(plan, core: core).ids())
    }
  }
}
