internal import LMDB
internal import LodestoreFormat

/// Checks the raw values that an update by expressions would assign to enumerations.
///
/// A record with a raw value of no case could not be decoded. Constants have the type of their
/// attribute and need no check.
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

  /// Whether no assignment is to an enumeration, so that nothing is checked.
  var isEmpty: Bool { assignments.isEmpty }

  /// Throws ``StoreError/Code/unstorableValue`` for the first record that would get a raw value of
  /// no case.
  ///
  /// The records are those with `ids`; no record is changed.
  func check(_ ids: [UInt64], core: WriteCore) throws(StoreError) {
    guard !isEmpty else { return }
    let evaluator = ConditionEvaluator(.constant(true), entity: entity, core: core)
    try wrappingErrors {
      try core.forEachStored(ids, of: entity) { id, cursor in
        let record = RecordUnderTest(view: try entity.view(cursor.value, id: id), id: id)
        for (assignment, cases) in zip(assignments, cases) {
          let result = try evaluator.value(assignment.operand, record)
          // The update itself refuses a value that does not fit the type.
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
