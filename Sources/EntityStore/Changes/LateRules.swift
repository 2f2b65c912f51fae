internal import LMDB
internal import LodestoreBytes
internal import LodestoreFormat

/// Checks rules on attributes that are derived from related records, when these attributes are
/// final.
///
/// The sink collects the records that a write inserts and updates. ``DerivedAttributes`` updates a
/// record when its related records or its links change, so such a record is checked too.
final class LateRules: ChangeSink {
  let name = "rules over derived attributes"
  private unowned(unsafe) let core: WriteCore
  private let schema: StoredSchema
  /// The records to check, by entity.
  private var ids: [EntityNumber: IDRuns] = [:]
  /// For each changed entity, whether it has late rules.
  private var known: [EntityNumber: Bool] = [:]

  /// Returns `nil` when no entity has both rules and attributes derived from related records.
  init?(_ schema: StoredSchema, core: WriteCore) {
    guard schema.derived.contains(where: { !$0.owner.description.rules.isEmpty }) else {
      return nil
    }
    self.schema = schema
    self.core = core
  }

  func interest(in entity: StoredEntity) -> ChangeInterest? {
    if let known = known[entity.number] { return known ? [] : nil }
    var hasLateRules = false
    if !entity.description.rules.isEmpty,
      schema.derived.contains(where: { $0.owner === entity })
    {
      // Rules that cannot be parsed or bound count as late: the write is refused when they are
      // evaluated.
      hasLateRules = (try? core.rules(of: entity)?.areSomeLate) ?? true
    }
    known[entity.number] = hasLateRules
    return hasLateRules ? [] : nil
  }

  func record(_ change: RecordChange, of entity: StoredEntity) throws(StoreError) {
    switch change {
    case .inserted(let range):
      ids[entity.number, default: IDRuns()].append(range)
    case .insertedRecord(let id, _), .updated(let id, _, _, _):
      ids[entity.number, default: IDRuns()].append(id)
    case .removed, .cleared: break
    }
  }

  func finish(_ core: WriteCore) throws(StoreError) {
    var broken: [RuleViolation] = []
    var reason: String?
    for entity in schema.entities {
      guard var runs = ids[entity.number], let rules = try core.rules(of: entity) else { continue }
      runs.normalize()
      do {
        try core.forEachStored(runs.ranges.flatMap { Array($0) }, of: entity) { id, cursor in
          let view = try entity.view(cursor.value, id: id)
          for rule in try core.withCurrent(view, id: id, of: entity, rules.brokenAtCommit) {
            broken.append(
              RuleViolation(entity: entity.name, recordID: id, attribute: nil, rule: rule.name))
            reason = reason ?? self.reason(rule, entity)
          }
          if broken.count >= StoreError.mostViolations {
            throw StoreError.brokenAtCommit(broken, reason ?? "")
          }
        }
      } catch {
        throw StoreError(wrapping: error)
      }
    }
    if !broken.isEmpty { throw .brokenAtCommit(broken, reason ?? "") }
  }

  /// The derived attributes that the rule reads, with their sources, in words.
  private func reason(_ rule: BrokenLateRule, _ entity: StoredEntity) -> String {
    schema.derived.filter { $0.owner === entity && rule.derived.contains($0.number) }
      .map { derivation in
        "'\(entity.attributeName(at: derivation.position))' is derived from the records of "
          + derivation.end.label
      }.joined(separator: ", ")
  }
}

extension WriteCore {
  /// Calls `body` with a record in the current layout, converting an older record.
  func withCurrent<R>(
    _ view: RecordView, id: UInt64, of entity: StoredEntity,
    _ body: (RecordView, UInt64) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    if view.layout === entity.layout { return try body(view, id) }
    return try carriedOver(view, id: id, of: entity)._withBytes { (bytes) throws(StoreError) in
      try body(try entity.view(carriedOver: bytes, id: id), id)
    }
  }
}

extension StoreError {
  /// The error for rules that the write would leave broken.
  ///
  /// - Parameter reason: the sources of the derived attributes in the first rule.
  fileprivate static func brokenAtCommit(_ violations: [RuleViolation], _ reason: String)
    -> StoreError
  {
    let first = violations[0]
    let others = violations.count - 1
    let more = others == 0 ? "" : "; \(others) more broken rule\(others == 1 ? "" : "s")"
    var error = StoreError(
      .invalidValue,
      "cannot commit: \(first.entity) \(first.recordID ?? 0) would break the rule '\(first.rule)'; its "
        + "\(reason), as they are at the end of the write\(more)",
      entity: first.entity, recordID: first.recordID)
    error.violations = violations
    error.isOfLateRule = true
    return error
  }
}
