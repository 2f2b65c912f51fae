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

  /// Inserts a record; returns its id.
  ///
  /// A missing value is the attribute's default value, or null. Derived attributes are computed.
  ///
  /// - Parameter values: by the name of the attribute, each of the attribute's type.
  /// - Throws: ``StoreError/Code/unstorableValue`` for an unknown name, a value of another type, and
  ///   a required attribute without a value.
  package func insert(
    _ values: [String: Value], into entity: DynamicEntity
  ) throws(StoreError) -> UInt64 {
    let attributes = entity.description.declaredAttributes
    let known = attributes.filter { $0.derivation == nil }.map(\.name)
    if let name = values.keys.sorted().first(where: { !known.contains($0) }) {
      throw Self.unstorable(entity, name, "is no attribute that takes a value")
    }
    var row: [Value] = []
    for attribute in attributes {
      let value = values[attribute.name] ?? attribute.defaultValue
      if attribute.derivation != nil {
        row.append(.placeholder(of: attribute.type))
      } else if value == .null {
        guard attribute.isOptional else {
          throw Self.unstorable(entity, attribute.name, "is required and was not given")
        }
        row.append(.null)
      } else {
        guard value.fits(attribute.type) else {
          throw Self.unstorable(entity, attribute.name, "must be \(attribute.type.expectation)")
        }
        row.append(value)
      }
    }
    return try core.asOneCall("insert") { () throws(StoreError) in
      let changes = core.changes(of: entity.stored)
      return try changes.insert(try changes.encode(row))
    }
  }

  private static func unstorable(
    _ entity: DynamicEntity, _ attribute: String, _ reason: String
  ) -> StoreError {
    StoreError(
      .unstorableValue, "cannot insert a \(entity.name): '\(attribute)' \(reason)",
      entity: entity.name, attribute: attribute)
  }

  /// Links record `id` with `others`; returns the number of new links.
  ///
  /// In an ordered relationship, new links come last, in the order of `others`.
  package func link(
    _ id: UInt64, with others: [UInt64], by relationship: DynamicRelationship
  ) throws(StoreError) -> Int {
    try core.asOneCall("link") { () throws(StoreError) in
      try core.link(LinkList(of: id, with: others), by: relationship.end)
    }
  }

  /// Removes the links of record `id` to `others`; returns the number of links that existed.
  package func unlink(
    _ id: UInt64, from others: [UInt64], by relationship: DynamicRelationship
  ) throws(StoreError) -> Int {
    try core.asOneCall("unlink") { () throws(StoreError) in
      try core.unlink(LinkList(of: id, with: others), by: relationship.end)
    }
  }

  /// Undoes the write with this number; see ``WriteTransaction/undo(_:)``.
  package func undo(_ number: UInt64) throws(StoreError) {
    let token = HistoryToken(storeID: try HistoryLog(core).storeID(), number: number)
    _ = try core.takeBack(token, isPartial: false)
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
