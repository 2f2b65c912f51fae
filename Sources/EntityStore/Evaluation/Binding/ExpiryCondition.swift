internal import LodestoreFormat

// Queries leave out expired records by a condition on the record's id, which is added when a plan
// is made. So every access path, count, group and order treats it like any other condition.

extension TransactionCore {
  /// Returns whether this read leaves out records of one of `entities`.
  func hasExpired(ofAny entities: [StoredEntity]) throws(StoreError) -> Bool {
    guard moment != nil else { return false }
    for entity in entities where try hasExpired(of: entity) { return true }
    return false
  }

  func hasExpired(of entity: StoredEntity) throws(StoreError) -> Bool {
    try expired(of: entity) != nil
  }

  /// Returns `condition` combined with the condition that a record of `entity` has not expired.
  func leavingOutExpired(
    _ condition: BoundCondition, of entity: StoredEntity
  ) throws(StoreError) -> BoundCondition {
    guard let expired = try expired(of: entity) else { return condition }
    return condition.isAlways ? expired.condition : .all([condition, expired.condition])
  }
}

extension ExpiredRecords {
  /// The condition that a record has not expired.
  fileprivate var condition: BoundCondition {
    .not(.test(AttributeTest(.recordID, .numbers(numbers))))
  }
}

extension BoundCondition {
  /// Whether the condition excludes records by their ids alone, so that nearly all records pass.
  var leavesOutIDs: Bool { if case .not(let part) = self { part.isOfRecordID } else { false } }
}
