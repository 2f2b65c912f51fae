internal import LodestoreFormat

/// A condition of the catalogue on the attributes of one record: a rule, or the condition of a
/// delete rule or of a derived attribute.
final class RecordCondition: RecordTest {
  private let bound: BoundCondition
  private let evaluator: ConditionEvaluator

  /// - Throws: ``StoreError/Code/invalidQuery`` where the text is no condition on records of `entity`.
  init(_ text: String, of entity: StoredEntity, core: TransactionCore) throws(StoreError) {
    let parsed = try ConditionParser.parse(text)
    var binding = ConditionBinding(entity)
    binding.isOfRule = true
    bound = try binding.bind(parsed.tree)
    evaluator = ConditionEvaluator(bound, entity: entity, core: core, now: core.time)
  }

  /// The numbers of the attributes that it reads.
  var attributeNumbers: Set<UInt32> { bound.attributeNumbers }

  /// Whether a record may fulfil it at one time and not at another.
  var dependsOnTime: Bool { bound.dependsOnTime }

  func admits(_ view: RecordView, id: UInt64) throws(StoreError) -> Bool {
    try evaluator.admits(new: view, id: id)
  }
}

extension DerivationDescription {
  /// The numbers of the attributes of `target`, whose records it is derived from, that it depends
  /// on; `nil` where its condition cannot be read.
  func sources(in target: EntityDescription) -> Set<UInt32>? {
    var numbers: Set<UInt32> = []
    if kind.isOfRelated, let source { numbers.insert(source) }
    guard let condition else { return numbers }
    guard let parsed = try? ConditionParser.parse(condition) else { return nil }
    for name in parsed.tree.memberNames where name != BoundAttribute.recordIDName {
      guard let attribute = target.attribute(named: name) else { return nil }
      numbers.insert(attribute.number)
    }
    return numbers
  }
}

extension TransactionCore {
  /// The condition on the related records of `derivation`; `nil` where all of them count.
  ///
  /// - Throws: ``StoreError/Code/badSchema`` for a condition that cannot be used.
  func condition(of derivation: RelatedDerivation) throws(StoreError) -> (any RecordTest)? {
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

  /// The condition of the delete rule of `end`, on the records that it leads to; `nil` where there
  /// is none.
  ///
  /// - Throws: ``StoreError/Code/badSchema`` for a condition that cannot be used.
  func denyCondition(of end: RelationshipEnd) throws(StoreError) -> (any RecordTest)? {
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

  /// Throws ``StoreError/Code/badSchema`` for a condition of a delete rule or a derived attribute
  /// that cannot be used, where one of its two entities is among `declared`.
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
