internal import LodestoreFormat

/// A condition stored in the catalogue, on the attributes of one record: a rule, or the condition
/// of a delete rule or a derived attribute.
final class RecordCondition {
  private let bound: BoundCondition
  private let evaluator: ConditionEvaluator

  /// Parses a condition and binds it to `entity`.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` if the text is not a condition on records of
  ///   `entity`.
  init(_ text: String, of entity: StoredEntity, core: TransactionCore) throws(StoreError) {
    let parsed = try ConditionParser.parse(text)
    var binding = ConditionBinding(entity)
    binding.isOfRule = true
    bound = try binding.bind(parsed.tree)
    // The binding knows no schema, so the condition asks about no related records.
    evaluator = ConditionEvaluator(
      bound, entity: entity, core: core, now: core.time, relatedSearch: nil)
  }

  /// The numbers of the attributes that the condition reads.
  var attributeNumbers: Set<UInt32> { bound.attributeNumbers }

  /// Whether the result for an unchanged record can differ from one time to another.
  var dependsOnTime: Bool { bound.dependsOnTime }

  /// Returns whether a record of any layout fulfils the condition.
  func admits(_ view: RecordView, id: UInt64) throws(StoreError) -> Bool {
    try evaluator.admits(new: view, id: id)
  }
}

extension TransactionCore {
  /// Returns the condition on the related records of `derivation`, or `nil` if all of them count.
  ///
  /// - Throws: ``StoreError/Code/badSchema`` for a condition that cannot be used.
  func condition(of derivation: RelatedDerivation) throws(StoreError) -> RecordCondition? {
    guard let text = derivation.condition else { return nil }
    let attribute = derivation.owner.attributeName(at: derivation.position)
    do throws(StoreError) {
      let condition = try RecordCondition(text, of: derivation.end.target, core: self)
      if condition.dependsOnTime {
        throw .badQuery("now() is another time at each look, and the attribute is kept")
      }
      return condition
    } catch {
      throw .badSchema(
        entity: derivation.owner.name, attribute: attribute,
        "the condition '\(text)' of its derived attribute '\(attribute)' cannot be used: "
          + error.message)
    }
  }

  /// Returns the condition on the records that `end` leads to, which deny a delete if they fulfil
  /// it; `nil` if none exists.
  ///
  /// - Throws: ``StoreError/Code/badSchema`` for a condition that cannot be used.
  func denyCondition(of end: RelationshipEnd) throws(StoreError) -> RecordCondition? {
    guard let text = end.denyCondition else { return nil }
    do throws(StoreError) {
      return try RecordCondition(text, of: end.target, core: self)
    } catch {
      throw .badSchema(
        entity: end.source.name, attribute: end.name,
        "the condition '\(text)' by which \(end.label) denies deletes cannot be used: "
          + error.message)
    }
  }

  /// Checks the conditions of delete rules and derived attributes between two entities of which one
  /// is in `declared`.
  ///
  /// Throws ``StoreError/Code/badSchema`` for a condition that cannot be used.
  func checkConditions(_ declared: Set<String>) throws(StoreError) {
    func isDeclared(_ end: RelationshipEnd) -> Bool {
      declared.contains(end.source.name) || declared.contains(end.target.name)
    }
    for derivation in schema.derived where isDeclared(derivation.end) {
      _ = try condition(of: derivation)
    }
    for relationship in schema.relationships {
      for side in RelationshipSide.allCases where isDeclared(relationship.end(side)) {
        _ = try denyCondition(of: relationship.end(side))
      }
    }
  }
}
