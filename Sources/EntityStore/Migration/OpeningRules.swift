internal import LMDB
internal import LodestoreFormat

/// Checks constraints and rules at the end of an opening, on the records that it changed.
///
/// Steps may store values that do not satisfy a declared rule yet, because a later step may
/// complete them. Derived attributes with a new definition get their values at the end. So the
/// final values are checked. Records that the opening did not change may break a rule, as after
/// adding a rule without stages.
final class OpeningRules: ChangeSink {
  let name = "rules at the end of an opening"
  /// The changed records, by entity.
  private var ids: [EntityNumber: IDRuns] = [:]

  func note(_ id: UInt64, of entity: EntityNumber) { ids[entity, default: IDRuns()].append(id) }

  func interest(in _: StoredEntity) -> ChangeInterest? { .attributes }

  func record(_ change: RecordChange, of entity: StoredEntity) {
    switch change {
    case .inserted(let range): ids[entity.number, default: IDRuns()].append(range)
    case .insertedRecord(let id, _): note(id, of: entity.number)
    case .updated(let id, _, _, let attributes):
      // A record that was only converted to the current layout has no changed attributes.
      if attributes?.isEmpty != true { note(id, of: entity.number) }
    case .removed, .cleared: break
    }
  }

  /// - Parameter refusal: converts the error for broken constraints and rules to the error of the
  ///   opening.
  func check(_ core: WriteCore, _ refusal: (StoreError) -> StoreError) throws(StoreError) {
    for entity in core.schema.entities {
      guard var runs = ids[entity.number] else { continue }
      let changes = core.changes(of: entity)
      guard changes.hasConstraints else { continue }
      let rules = try core.rules(of: entity)
      runs.normalize()
      var broken = BrokenRules()
      do {
        try core.forEachStored(runs.ranges.flatMap { Array($0) }, of: entity) { id, cursor in
          let view = try entity.view(cursor.value, id: id)
          try core.withCurrent(view, id: id, of: entity) { (view, id) throws(StoreError) in
            try broken.collect { () throws(StoreError) in try changes.check(view, id: id) }
            for rule in try rules?.brokenAtCommit(by: view, id: id) ?? [] {
              let violation = RuleViolation(
                entity: entity.name, recordID: id, attribute: nil, rule: rule.name)
              try broken.add(.broken([violation]))
            }
          }
        }
        try broken.check()
      } catch {
        throw refusal(StoreError(wrapping: error))
      }
    }
  }
}

extension StoreError {
  /// The error for an opening in which the new values of derived attributes break the rules in
  /// `error`.
  static func afterDerivation(_ error: StoreError) -> StoreError {
    guard !error.violations.isEmpty else { return error }
    var refusal = StoreError(
      .incompatibleSchema,
      "cannot open the store: with its derived attributes computed again, \(error.message); change "
        + "the record by a stage of a migration, or declare another rule", cause: error,
      entity: error.entity, attribute: error.attribute, recordID: error.recordID)
    refusal.violations = error.violations
    refusal.privateDetail = error.privateDetail
    return refusal
  }
}
