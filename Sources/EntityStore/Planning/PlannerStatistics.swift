internal import LMDB
internal import LodestoreFormat

/// The facts about the data that the planner uses.
///
/// The type is a class, so that planning copies only references.
class PlannerStatistics {
  let core: TransactionCore
  let entity: StoredEntity
  let recordCount: Int

  init(of entity: StoredEntity, core: TransactionCore, recordCount: Int) {
    self.core = core
    self.entity = entity
    self.recordCount = recordCount
  }

  convenience init(of entity: StoredEntity, core: TransactionCore) throws(StoreError) {
    self.init(of: entity, core: core, recordCount: try core.count(of: entity))
  }

  /// Estimates the number of entries of `index` within `range`, by descending its tree.
  func estimate(_ index: StoredIndex, _ range: IndexRange) throws -> Int {
    try core.transaction.estimatedCount(of: index.tree, within: range.keys)
  }

  /// Estimates the number of entries with the same leading attributes as the first or last entry of
  /// `range`.
  func groupSize(
    _ index: StoredIndex, _ range: IndexRange, _ attributeCount: Int, isReversed: Bool
  ) throws -> Int {
    let cursor = try Cursor(index.tree, in: core.transaction)
    var group: [UInt8]?
    try cursor.forEachEntry(in: range.keys, backwards: isReversed) { (key, _) throws in
      group = KeyDecoder.lengthOfBeginning(of: key, elementCount: attributeCount)
        .map { Array(key[..<$0]) }
      return false
    }
    guard let group else { return 0 }
    return try core.transaction.estimatedCount(
      of: index.tree, within: IndexRange.beginning(with: group).keys)
  }

  /// Estimates the number of records that match a search.
  func searchCount(_ search: BoundSearch) throws -> Int {
    Int(clamping: try SearchContext(search, core: core).node()?.recordCount ?? 0)
  }

  /// Returns the plan that finds the related records of `test`, and the number of links of the
  /// relationship.
  func related(_ test: RelatedTest) throws -> (target: QueryPlan, linkCount: Int) {
    (try core.target(of: test), try core.transaction.count(of: test.end.relationship.linksTo.tree))
  }

  /// Returns the first and the last id of the records, or `nil` without records.
  func ids() throws -> ClosedRange<UInt64>? {
    let cursor = try Cursor(entity.records, in: core.transaction)
    guard try cursor.first() else { return nil }
    let first = cursor.integerKey
    guard try cursor.last() else { return nil }
    return first...max(first, cursor.integerKey)
  }
}
