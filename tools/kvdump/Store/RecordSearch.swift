import EntityStore
import LodestoreFormat

/// Finds the records whose attributes have given values, by the planner's choice.
///
/// "Have" is stricter than `==` of conditions for what that does not compare as a whole: a nested
/// value has to be the same, and NaN is found. Those are looked at in each record that the rest of
/// the values leads to.
struct RecordSearch {
  private typealias Wanted = (attribute: EntityDescription.Attribute, value: Value)

  private let entity: DynamicEntity
  private let request: QueryRequest
  /// What no condition says.
  private let checks: [Wanted]
  /// Whether an index begins with the attributes, in any order.
  private let hasIndex: Bool

  /// Reads the values as the schema says.
  ///
  /// `_id`, and `id` where no attribute has that name, is the record's id.
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

  /// Whether `==` of conditions finds exactly the records that have the value.
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
  /// - Returns: whether all records were read for lack of an index.
  func forEach(
    in snapshot: DynamicSnapshot, on console: Console,
    _ body: (DynamicRecord) throws -> Bool
  ) throws -> Bool {
    let query = try snapshot.query(request, of: entity)
    try console.withProgress { progress in
      try query.forEach(control: progress?.control) { record in
        if try !passes(record) { return true }
        // The rows on the same screen show the progress themselves.
        if console.terminal.isTerminal { progress?.end() }
        return try body(record)
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
