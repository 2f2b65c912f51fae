internal import LodestoreFormat

/// Asks the rules of an entity about records that are about to be written.
final class RuleEvaluation: RecordRules {
  private let rules: [(name: String, evaluator: ConditionEvaluator)]

  init(_ entity: StoredEntity, core: TransactionCore) throws(StoreError) {
    var rules: [(String, ConditionEvaluator)] = []
    for rule in entity.description.rules {
      do throws(StoreError) {
        let parsed = try ConditionParser.parse(rule.condition)
        let bound = try ConditionBinding.bind(parsed.tree, to: entity)
        rules.append(
          (rule.name, ConditionEvaluator(bound, entity: entity, core: core, now: core.time)))
      } catch {
        throw .badSchema(
          entity: entity.name, "its rule '\(rule.name)' cannot be used: \(error.message)")
      }
    }
    self.rules = rules
  }

  func broken(by view: RecordView, id: UInt64?) throws(StoreError) -> [String] {
    var broken: [String] = []
    for (name, evaluator) in rules where try !evaluator.admits(new: view, id: id ?? 0) {
      broken.append(name)
    }
    return broken
  }
}

extension TransactionCore {
  /// The rules of `entity`; throws ``StoreError/Code/badSchema`` for one that cannot be used.
  func rules(of entity: StoredEntity) throws(StoreError) -> (any RecordRules)? {
    entity.description.rules.isEmpty ? nil : try RuleEvaluation(entity, core: self)
  }
}
