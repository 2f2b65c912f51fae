package import LodestoreFormat

/// What a batch update does to one attribute.
public struct AttributeUpdate<E: Entity>: Sendable {
  let path: ValuePath?
  let name: String
  let operand: Operand
  /// For a required attribute of documents, of which a constant is one as a whole.
  let constant: StoredValue?
  /// Why there is no constant: it cannot be encoded.
  let failure: (any Error)?

  private init<V>(
    _ path: any KeyPath<E, V> & Sendable, _ operand: Operand, _ value: StoredValue?,
    failure: (any Error)? = nil
  ) {
    self.path = AttributePath(path).path
    name = "\(path)"
    self.operand = operand
    constant = value
    self.failure = failure
  }

  /// An update to a document; `nil` for null.
  private init<P>(_ path: any KeyPath<E, P> & Sendable, document: (some Encodable)?) {
    do {
      self.init(path, .value(.null), try document.map { try StoredValue(encoding: $0) } ?? .null)
    } catch {
      self.init(path, .value(.null), nil, failure: error)
    }
  }

  /// Gives the attribute `value`.
  public static func set<V: AttributeValue>(
    _ path: any KeyPath<E, V> & Sendable, to value: V
  ) -> AttributeUpdate {
    AttributeUpdate(path, .value(.null), value.storedValue)
  }

  /// Gives the enumeration `value`.
  public static func set<V: RawRepresentable & Sendable>(
    _ path: any KeyPath<E, V> & Sendable, to value: V
  ) -> AttributeUpdate where V.RawValue: AttributeValue {
    AttributeUpdate(path, .value(.null), value.rawValue.storedValue)
  }

  /// Gives the attribute an array, a dictionary or a nested struct.
  @_disfavoredOverload
  public static func set<V: Codable & Sendable>(
    _ path: any KeyPath<E, V> & Sendable, to value: V
  ) -> AttributeUpdate {
    AttributeUpdate(path, document: value)
  }

  /// Gives the optional attribute an array, a dictionary or a nested struct, or null.
  @_disfavoredOverload
  public static func set<V: Codable & Sendable>(
    _ path: any KeyPath<E, V?> & Sendable, to value: V?
  ) -> AttributeUpdate {
    AttributeUpdate(path, document: value)
  }

  /// Gives the attribute the value that another attribute of the record has.
  public static func set<V: AttributeValue>(
    _ path: any KeyPath<E, V> & Sendable, from source: any KeyPath<E, V> & Sendable
  ) -> AttributeUpdate {
    AttributeUpdate(path, AttributePath(source).path.map(Operand.path) ?? .value(.null), nil)
  }

  /// Adds `amount` to the number; null stays null.
  ///
  /// A result that the attribute's type does not hold ends the update.
  public static func add<V: AttributeValue & Numeric>(
    _ amount: V, to path: any KeyPath<E, V> & Sendable
  ) -> AttributeUpdate {
    AttributeUpdate(path, arithmetic(.add, path, amount), nil)
  }

  /// Multiplies the number by `factor`; null stays null.
  public static func multiply<V: AttributeValue & Numeric>(
    _ path: any KeyPath<E, V> & Sendable, by factor: V
  ) -> AttributeUpdate {
    AttributeUpdate(path, arithmetic(.multiply, path, factor), nil)
  }

  /// Adds `amount` to the number where there is one; null stays null.
  public static func add<V: AttributeValue & Numeric>(
    _ amount: V, to path: any KeyPath<E, V?> & Sendable
  ) -> AttributeUpdate {
    AttributeUpdate(path, arithmetic(.add, path, amount), nil)
  }

  /// Multiplies the number by `factor` where there is one; null stays null.
  public static func multiply<V: AttributeValue & Numeric>(
    _ path: any KeyPath<E, V?> & Sendable, by factor: V
  ) -> AttributeUpdate {
    AttributeUpdate(path, arithmetic(.multiply, path, factor), nil)
  }

  /// Gives the attribute the value of an expression over the record's attributes, in the notation of
  /// format strings.
  ///
  ///     .set(\.score, toFormat: "downloads * 2 + stars")
  ///
  /// What an enumeration is given must be the raw value of a case: the records are looked at before
  /// the first is changed, and ``StoreError/Code/unstorableValue`` refuses the update.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery``.
  public static func set<V: AttributeValue>(
    _ path: any KeyPath<E, V> & Sendable, toFormat format: String,
    _ arguments: any FormatValue...
  ) throws(StoreError) -> AttributeUpdate {
    AttributeUpdate(
      path,
      try ConditionParser.parseOperand(format, arguments: arguments.map { FormatArgument($0) }),
      nil)
  }

  private static func arithmetic<P, V: AttributeValue>(
    _ op: ArithmeticOperator, _ path: any KeyPath<E, P> & Sendable, _ amount: V
  ) -> Operand {
    .arithmetic(
      op, AttributePath(path).path.map(Operand.path) ?? .value(.null),
      .value(ConditionConstant.value(amount)))
  }
}

extension WriteTransaction {
  /// Gives attributes of the records for which `condition` is true new values; returns how many
  /// records have others now.
  ///
  ///     try tx.update(Item.self, where: \.done == false, .set(\.done, to: true))
  ///     try tx.update(Pod.self, where: .all, .add(1, to: \.downloads))
  ///
  /// Values of fixed width are changed in place, without decoding the rest; index entries move where
  /// their keys change. Two records may exchange the values of a unique index.
  ///
  /// - Throws: ``StoreError/Code/invalidQuery`` before anything is changed. After
  ///   ``StoreError/Code/uniqueViolation``, ``StoreError/Code/unstorableValue``, for a value that
  ///   does not fit, and ``StoreError/Code/invalidValue``, for a changed record that breaks a
  ///   constraint in any attribute, the transaction cannot be committed.
  @discardableResult
  public mutating func update<E: Entity>(
    _ type: E.Type, where condition: Condition<E>, _ updates: AttributeUpdate<E>...
  ) throws(StoreError) -> Int {
    try update(Query<E>().where(condition), updates)
  }

  /// Gives attributes of the records that `query` finds, within its limit and offset, new values.
  @discardableResult
  public mutating func update<E: Entity>(
    _ query: Query<E>, _ updates: [AttributeUpdate<E>]
  ) throws(StoreError) -> Int {
    let entity = try core.entity(E.self)
    let request = try query.request()
    let assignments = try updates.assignments()
    let cases = try CaseCheck(E.self, of: entity, assignments, request.positions)
    if !cases.isEmpty {
      try cases.check(
        try PlanRun(try core.plan(request, for: entity), core: core).sortedIDs(), core: core)
    }
    return try core.update(request, of: entity, assignments)
  }
}

extension Array {
  /// What the updates assign, by the names of attributes.
  func assignments<E: Entity>() throws(StoreError) -> [(
    name: String, operand: Operand, constant: Value?
  )] where Element == AttributeUpdate<E> {
    var assignments: [(String, Operand, Value?)] = []
    for update in self {
      guard let path = update.path, case .member(let name)? = path.steps.first else {
        throw .badQuery("\(update.name) is no attribute of \(E.schema.name), so it cannot be set")
      }
      if let failure = update.failure {
        throw StoreError(
          .unstorableValue,
          "cannot update \(E.schema.name): '\(name)' cannot be encoded: \(failure)",
          cause: failure, entity: E.schema.name, attribute: name)
      }
      assignments.append((name, update.operand, update.constant?.value))
    }
    return assignments
  }
}

extension TransactionCore {
  /// Gives the records that `request` finds new values, by the names of attributes.
  package func update(
    _ request: QueryRequest, of entity: StoredEntity,
    _ assignments: [(name: String, operand: Operand, constant: Value?)]
  ) throws(StoreError) -> Int {
    let batch = try batchUpdate(of: entity, assignments, request.positions)
    let run = try PlanRun(try plan(request, for: entity), core: self)
    if run.plan.isWholeScan, batch.keepsSizes {
      try batch.updateAll(where: run.plan.residual)
    } else {
      try batch.update(try run.sortedIDs())
    }
    return batch.updatedCount
  }

  /// An update with these assignments, bound to the attributes.
  func batchUpdate(
    of entity: StoredEntity, _ assignments: [(name: String, operand: Operand, constant: Value?)],
    _ positions: [String: FormatPosition]
  ) throws(StoreError) -> BatchUpdate {
    var binding = ConditionBinding(entity, positions)
    var bound: [BatchUpdate.Assignment] = []
    for (name, operand, constant) in assignments {
      let attribute = try binding.attribute(named: name)
      guard !attribute.isRecordID else { throw .badQuery("the id of a record cannot be set") }
      guard !bound.contains(where: { $0.attribute.number == attribute.number }) else {
        throw .badQuery("'\(name)' is set twice")
      }
      if let constant {
        if attribute.type == .recordID, constant == .integer(0) {
          throw .unassignedID(entity.name, attribute: name)
        }
        guard constant == .null ? attribute.isOptional : constant.fits(attribute.type) else {
          throw .badQuery(
            "'\(name)' is a \(attribute.isOptional ? "" : "required ")\(attribute.type.name) and "
              + "is set to \(constant.kindName)")
        }
      }
      bound.append(
        BatchUpdate.Assignment(
          attribute: attribute, operand: try binding.operand(operand), constant: constant))
    }
    return BatchUpdate(of: entity, bound, core: self)
  }

  /// Removes the records that `request` finds.
  package func delete(_ request: QueryRequest, of entity: StoredEntity) throws(StoreError) -> Int {
    // The records are needed too, but later and in the order of their ids.
    var request = request
    request.wantsOnlyEntries = true
    let run = try PlanRun(try plan(request, for: entity), core: self)
    if run.plan.isEverything {
      let count = try count(of: entity)
      try changes(of: entity).clear()
      return count
    }
    return try delete(try run.sortedIDs(), of: entity)
  }
}

extension StoreError {
  static func unfitting(
    entity: String, attribute: String, type: String, recordID: UInt64
  ) -> StoreError {
    StoreError(
      .unstorableValue,
      "cannot update \(entity) \(recordID): the new value of '\(attribute)' does not fit \(type); "
        + "exclude such records by a condition", entity: entity, recordID: recordID)
  }
}
