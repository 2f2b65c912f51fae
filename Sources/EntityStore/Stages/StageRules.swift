internal import LMDB
internal import LodestoreFormat

/// Checks constraints and rules at the end of the stages, on the records that the stages changed.
///
/// Steps may store values that do not satisfy a declared rule yet, because a later step may
/// complete them. The final values are checked, even in records in which only derived attributes
/// changed. Records that no step changed may break a rule, as after adding a rule without stages.
final class StageRules: ChangeSink {
  let name = "rules after stages"
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

  /// - Throws: ``StoreError/Code/incompatibleSchema`` with the broken constraints and rules.
  func check(_ core: WriteCore) throws(StoreError) {
    for entity in core.schema.entities {
      let changes = core.changes(of: entity)
      guard changes.hasConstraints, var runs = ids[entity.number] else { continue }
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
        throw StoreError.afterStages(StoreError(wrapping: error))
      }
    }
  }
}

extension StoreError {
  /// The error for a migration whose result breaks the rules or links in `error`.
  static func afterStages(_ error: StoreError) -> StoreError {
    guard error.code == .missingTarget || !error.violations.isEmpty else { return error }
    var refusal = StoreError.cannotMigrate(
      "after the stages, \(error.message)", entity: error.entity, attribute: error.attribute,
      recordID: error.recordID, cause: error)
    refusal.violations = error.violations
    refusal.privateDetail = error.privateDetail
    return refusal
  }
}
