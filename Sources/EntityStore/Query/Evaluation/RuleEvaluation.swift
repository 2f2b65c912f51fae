internal import LodestoreFormat

/// Checks records that are about to be written against the rules of an entity.
final class RuleEvaluation: RecordRules {
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

  var areSomeLate: Bool { !lateRules.isEmpty }

  var readID: Bool {
    rules.contains { $0.condition.attributeNumbers.contains(BoundAttribute.recordID.number) }
  }

  func broken(by view: RecordView, id: UInt64) throws(StoreError) -> [String] {
    var broken: [String] = []
    for rule in rules where try !rule.condition.admits(view, id: id) { broken.append(rule.name) }
    return broken
  }

  func brokenAtCommit(by view: RecordView, id: UInt64) throws(StoreError) -> [BrokenLateRule] {
    var broken: [BrokenLateRule] = []
    for rule in lateRules where try !rule.condition.admits(view, id: id) {
      broken.append(BrokenLateRule(name: rule.name, derived: rule.derived))
    }
    return broken
  }
}

extension TransactionCore {
  /// Returns the rules of `entity`, or `nil` if it has none.
  ///
  /// Throws ``StoreError/Code/badSchema`` for a rule that cannot be used.
  func rules(of entity: StoredEntity) throws(StoreError) -> (any RecordRules)? {
    entity.description.rules.isEmpty ? nil : try RuleEvaluation(entity, core: self)
  }
}

extension DeclaredEntity {
  /// Throws if a rule names an attribute listed in ``removed``.
  func checkRules() throws(StoreError) {
    guard !removed.isEmpty else { return }
    for rule in rules {
      guard let names = try? ConditionParser.parse(rule.condition).tree.memberNames,
        let gone = removed.first(where: names.contains)
      else { continue }
      throw .badSchema(
        entity: name, attribute: gone,
        "attribute '\(gone)' is named in 'removed', and the rule '\(rule.name)' names it: "
          + "'\(rule.condition)'; take it out of one of them")
    }
  }
}
