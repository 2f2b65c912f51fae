import EntityStore
import LodestoreFormat

/// Finds the records whose attributes have given values, with a plan of the query planner.
///
/// For some values this is stricter than the `==` of conditions: a nested value must be identical,
/// and NaN is found. Such values are compared in each record that the remaining values find.
struct RecordSearch {
  private typealias Wanted = (attribute: EntityDescription.Attribute, value: Value)

  private let entity: DynamicEntity
  private let request: QueryRequest
  /// Values that no condition can express.
  ///
  /// Each found record is compared with these values.
  private let checks: [Wanted]
  /// Whether an index begins with the attributes, in any order.
  private let hasIndex: Bool

  /// Converts the values according to the schema.
  ///
  /// `_id` is the record's id, and so is `id` if no attribute has that name.
  init(_ matches: [AttributeMatch], in entity: DynamicEntity) throws {
    self.entity = entity
    var conditions: [(attribute: String, value: Value)] = []
    var checks: [Wanted] = []
    var numbers: Set<UInt32> = []
    var isByID = false
    for match in matches {
      let isID =
        match.attribute == RecordColumns.idName
        || match.attribute == "id" && entity.description.attribute(named: "id") == nil
      if isID {
        guard let number = UInt64(match.value) else {
          throw CommandFailure.badValue(
            match.value, of: match.attribute, expectation: "the number of a record")
        }
        conditions.append((RecordColumns.idName, .integer(unsigned: number)))
        isByID = true
        continue
      }
      let attribute = try entity.attribute(match.attribute)
      let value = try TypedValue.value(match.value, of: attribute)
      numbers.insert(attribute.number)
      if Self.isCondition(value) {
        conditions.append((attribute.name, value))
      } else {
        checks.append((attribute, value))
      }
    }
    request = QueryRequest(equal: conditions)
    self.checks = checks
    hasIndex =
      isByID
      || entity.indexes.contains { index in
        Set(index.description.attributes.prefix(numbers.count)) == numbers
      }
  }

  /// Whether the `==` of conditions finds exactly the records with the value.
  private static func isCondition(_ value: Value) -> Bool {
    switch value {
    case .document: false
    case .double(let number), .date(let number): !number.isNaN
    case .decimal(let decimal): !decimal.isNaN
    default: true
    }
  }

  /// Visits the records in the order of their ids, until `body` returns false.
  ///
  /// - Returns: Whether all records were read for lack of an index.
  func forEach(
    in snapshot: DynamicSnapshot, on console: Console,
    _ body: (DynamicRecord) throws -> Bool
  ) throws -> Bool {
    let query = try snapshot.query(request, of: entity)
    try console.withProgress { progress in
      try query.forEach(control: progress?.control) { record in
        try passes(record) ? try body(record) : true
      }
    }
    return query.isScan && !hasIndex
  }

  private func passes(_ record: DynamicRecord) throws -> Bool {
    if checks.isEmpty { return true }
    let reader = try record.reader()
    do {
      return try checks.allSatisfy { attribute, value in
        try reader.value(of: attribute).isSame(as: value)
      }
    } catch {
      throw CommandFailure.damagedRecord(entity.name, record.id, reason: "\(error)")
    }
  }
}
