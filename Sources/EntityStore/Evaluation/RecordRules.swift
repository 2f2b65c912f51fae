internal import LodestoreFormat

/// The record rules of one entity, ready for evaluation on records that are about to be written.
///
/// Rules that read an attribute derived from related records are late. The attribute is final only
/// at the end of the write, so ``LateRules`` evaluates them then.
final class RecordRules {
  private struct Rule {
    var name: String
    var condition: RecordCondition
    /// The numbers of the attributes derived from related records that the rule reads.
    var derived: Set<UInt32>
  }

  private let rules: [Rule]
  private let lateRules: [Rule]

  init(_ entity: StoredEntity, core: TransactionCore) throws(StoreError) {
    var rules: [Rule] = []
    for rule in entity.description.rules {
      do throws(StoreError) {
        let condition = try RecordCondition(rule.condition, of: entity, core: core)
        let derived = condition.attributeNumbers.filter { number in
          entity.description.attribute(number: number)?.derivation?.kind.isOfRelated == true
        }
        rules.append(Rule(name: rule.name, condition: condition, derived: derived))
      } catch {
        throw .badSchema(
          entity: entity.name, "its rule '\(rule.name)' cannot be used: \(error.message)")
      }
    }
    self.rules = rules.filter(\.derived.isEmpty)
    lateRules = rules.filter { !$0.derived.isEmpty }
  }

  /// Whether some rules are evaluated only at the end of the write.
  var areSomeLate: Bool { !lateRules.isEmpty }

  /// Whether a rule that is not late reads the record's id.
  var readID: Bool {
    rules.contains { $0.condition.attributeNumbers.contains(BoundAttribute.recordID.number) }
  }

  /// Returns the names of the broken rules, apart from late ones, for a record of the current
  /// layout.
  func broken(by view: RecordView, id: UInt64) throws(StoreError) -> [String] {
    var broken: [String] = []
    for rule in rules where try !rule.condition.admits(view, id: id) { broken.append(rule.name) }
    return broken
  }

  /// Returns the late rules that a record breaks.
  func brokenAtCommit(by view: RecordView, id: UInt64) throws(StoreError) -> [BrokenLateRule] {
    var broken: [BrokenLateRule] = []
    for rule in lateRules where try !rule.condition.admits(view, id: id) {
      broken.append(BrokenLateRule(name: rule.name, derived: rule.derived))
    }
    return broken
  }
}

/// A late rule that a record breaks.
struct BrokenLateRule {
  var name: String
  /// The numbers of the attributes derived from related records that the rule reads.
  var derived: Set<UInt32>
}

extension TransactionCore {
  /// Returns the rules of `entity`, or `nil` if it has none.
  ///
  /// Throws ``StoreError/Code/badSchema`` for a rule that cannot be used.
  func rules(of entity: StoredEntity) throws(StoreError) -> RecordRules? {
    entity.description.rules.isEmpty ? nil : try RecordRules(entity, core: self)
  }
}
