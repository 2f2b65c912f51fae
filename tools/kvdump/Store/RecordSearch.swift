import EntityStore
import LodestoreFormat

/// Finds the records whose attributes have given values, by the planner's choice.
///
/// "Have" is stricter than `==` of conditions for what that does not compare as a whole: a nested
/// value has to be the same, and NaN is found. Those are looked at in each record that the rest of
/// the values leads to.
struct RecordSearch {
  private typealias Wanted = (attribute: EntityDescription.Attribute, value: Value)

  private let entity: StoredEntity
  private let request: QueryRequest
  /// What no condition says.
  private let checks: [Wanted]
  /// Whether an index begins with the attributes, in any order.
  private let hasIndex: Bool

  /// Reads the values as the schema says.
  ///
  /// `_id`, and `id` where no attribute has that name, is the record's id.
  init(_ matches: [AttributeMatch], in entity: StoredEntity, store path: String) throws {
    self.entity = entity
    var conditions: [ConditionTree] = []
    var checks: [Wanted] = []
    var numbers: Set<UInt32> = []
    var isByID = false
    func add(_ name: String, _ value: Value) {
      conditions.append(
        .comparison(Comparison(.path(ValuePath(attribute: name)), .equal, .value(value))))
    }
    for match in matches {
      let isID =
        match.attribute == RecordColumns.idName
        || match.attribute == "id" && entity.description.attribute(named: "id") == nil
      if isID {
        guard let number = UInt64(match.value) else {
          throw CommandFailure.badValue(
            match.value, of: match.attribute, expectation: "the number of a record")
        }
        add(RecordColumns.idName, .integer(unsigned: number))
        isByID = true
        continue
      }
      let attribute = try entity.attribute(match.attribute, store: path)
      let value = try TypedValue.value(match.value, of: attribute)
      numbers.insert(attribute.number)
      if Self.isCondition(value) {
        add(attribute.name, value)
      } else {
        checks.append((attribute, value))
      }
    }
    request = QueryRequest(condition: .all(of: conditions))
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
    in core: TransactionCore, on console: Console,
    _ body: (UInt64, UnsafeRawBufferPointer) throws -> Bool
  ) throws -> Bool {
    let plan = try core.plan(request, for: entity)
    try console.withProgress { progress in
      let run = try PlanRun(plan, core: core, control: progress?.control)
      try run.visit { id, bytes in
        if try !passes(bytes, id) { return true }
        // The rows on the same screen show the progress themselves.
        if console.terminal.isTerminal { progress?.end() }
        return try body(id, bytes)
      }
    }
    return plan.isScan && !hasIndex
  }

  private func passes(_ bytes: UnsafeRawBufferPointer, _ id: UInt64) throws -> Bool {
    if checks.isEmpty { return true }
    let view = try entity.view(bytes, id: id)
    do {
      return try checks.allSatisfy { attribute, value in
        let place = view.layout.slotIndex(ofAttribute: attribute.number)
        let stored = try place.map { try view.value(at: view.layout.slots[$0]) }
        return Self.areSame(stored ?? attribute.initial, value)
      }
    } catch {
      throw CommandFailure.damagedRecord(entity.name, id, reason: "\(error)")
    }
  }

  private static func areSame(_ a: Value, _ b: Value) -> Bool {
    switch (a, b) {
    case (.double(let a), .double(let b)), (.date(let a), .date(let b)):
      a == b || a.isNaN && b.isNaN
    default: a == b
    }
  }
}
