internal import LMDB
internal import LodestoreFormat

/// Checks before an update by expressions that enumerations get raw values of cases: a record with
/// another one could not be decoded.
///
/// Constants have the type of their attribute; the value of an expression depends on the record.
struct CaseCheck {
  private var assignments: [BatchUpdate.Assignment] = []
  private var cases: [any EnumerationCases] = []
  private let entity: StoredEntity

  init<E: Entity>(
    _: E.Type, of entity: StoredEntity,
    _ given: [(name: String, operand: Operand, constant: Value?)],
    _ positions: [String: FormatPosition]
  ) throws(StoreError) {
    self.entity = entity
    let known = E.schema.cases
    guard !known.isEmpty else { return }
    var binding = ConditionBinding(entity, positions)
    for (name, operand, constant) in given where constant == nil {
      guard let found = known[name] else { continue }
      assignments.append(
        BatchUpdate.Assignment(
          attribute: try binding.attribute(named: name), operand: try binding.operand(operand)))
      cases.append(found)
    }
  }

  /// Whether there is nothing to look at.
  var isEmpty: Bool { assignments.isEmpty }

  /// Throws ``StoreError/Code/unstorableValue`` for the first of the records with `ids` that would get
  /// another raw value; nothing is changed.
  func check(_ ids: [UInt64], core: WriteCore) throws(StoreError) {
    guard !isEmpty else { return }
    let evaluator = ConditionEvaluator(.constant(true), entity: entity, core: core)
    try wrappingErrors {
      try core.forEachStored(ids, of: entity) { id, cursor in
        let record = RecordUnderTest(view: try entity.view(cursor.value, id: id), id: id)
        for (assignment, cases) in zip(assignments, cases) {
          let result = try evaluator.value(assignment.operand, record)
          // What does not fit the type is refused by the update itself.
          guard let raw = result.stored(in: assignment.attribute.type),
            !cases.contain(StoredValue(raw))
          else { continue }
          throw StoreError.noCase(
            entity: entity.name, attribute: assignment.attribute.name, of: cases.name, recordID: id)
        }
      }
    }
  }
}

extension StoreError {
  fileprivate static func noCase(
    entity: String, attribute: String, of enumeration: String, recordID: UInt64
  ) -> StoreError {
    StoreError(
      .unstorableValue,
      "cannot update \(entity) \(recordID): the new value of '\(attribute)' is no case of "
        + "\(enumeration); exclude such records by a condition", entity: entity,
      attribute: attribute, recordID: recordID)
  }
}
