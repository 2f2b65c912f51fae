package import LodestoreFormat

/// Changes of a store, and reads that see them.
///
/// Valid on one thread, within the closure that receives it.
package struct DynamicTransaction {
  let core: WriteCore

  /// The content of the store including the changes so far.
  package var snapshot: DynamicSnapshot { DynamicSnapshot(core: core) }

  /// Assigns new values to the records that match `request`; returns the number of changed records.
  package func update(
    _ request: QueryRequest, of entity: DynamicEntity, _ assignments: [DynamicAssignment]
  ) throws(StoreError) -> Int {
    try core.update(
      request, of: entity.stored, assignments.map { ($0.name, $0.operand, $0.constant) })
  }

  /// Deletes the records that match `request`; returns their number.
  package func delete(_ request: QueryRequest, of entity: DynamicEntity) throws(StoreError) -> Int {
    try core.delete(request, of: entity.stored)
  }
}

/// The new value of one attribute in an update.
package struct DynamicAssignment {
  let name: String
  let operand: Operand
  let constant: Value?

  /// Assigns a constant.
  package init(_ attribute: String, value: Value) {
    name = attribute
    operand = .value(.null)
    constant = value
  }

  /// Assigns an expression in the notation of format strings, which is computed for each record.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery``, whose cause is a ``PredicateSyntaxError``.
  package init(_ attribute: String, expression: String) throws(StoreError) {
    name = attribute
    operand = try ConditionParser.parseOperand(expression)
    constant = nil
  }
}

extension DynamicSnapshot {
  /// Throws when an expression uses names that are not attributes of `entity`; reads no record.
  package func check(_ assignment: DynamicAssignment, of entity: DynamicEntity) throws(StoreError) {
    // Planning a comparison with the expression checks its names.
    let comparison = Comparison(assignment.operand, .equal, .value(.null))
    _ = try core.plan(QueryRequest(condition: .comparison(comparison)), for: entity.stored)
  }
}
