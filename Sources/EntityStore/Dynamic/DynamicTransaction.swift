package import LodestoreFormat

/// Changes of a store, and what can be read in their midst.
///
/// For one thread, within the closure that was given it.
package struct DynamicTransaction {
  let core: WriteCore

  /// The store as changed so far.
  package var snapshot: DynamicSnapshot { DynamicSnapshot(core: core) }

  /// Gives the records that `request` finds new values; returns how many have other values now.
  package func update(
    _ request: QueryRequest, of entity: DynamicEntity, _ assignments: [DynamicAssignment]
  ) throws(StoreError) -> Int {
    try core.update(
      request, of: entity.stored, assignments.map { ($0.name, $0.operand, $0.constant) })
  }

  /// Removes the records that `request` finds; returns how many there were.
  package func delete(
    _ request: QueryRequest, of entity: DynamicEntity
  ) throws(StoreError) -> Int {
    try core.delete(request, of: entity.stored)
  }
}

/// What an update does to one attribute.
package struct DynamicAssignment {
  let name: String
  let operand: Operand
  let constant: Value?

  /// A constant.
  package init(_ attribute: String, value: Value) {
    name = attribute
    operand = .value(.null)
    constant = value
  }

  /// An expression in the notation of format strings, worked out for each record.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery``, whose cause is a ``PredicateSyntaxError``.
  package init(_ attribute: String, expression: String) throws(StoreError) {
    name = attribute
    operand = try ConditionParser.parseOperand(expression)
    constant = nil
  }
}

extension DynamicSnapshot {
  /// Throws when an expression uses names that are no attributes of `entity`; reads no record.
  package func check(
    _ assignment: DynamicAssignment, of entity: DynamicEntity
  ) throws(StoreError) {
    // A comparison with it is planned.
    let comparison = Comparison(assignment.operand, .equal, .value(.null))
    _ = try core.plan(QueryRequest(condition: .comparison(comparison)), for: entity.stored)
  }
}
