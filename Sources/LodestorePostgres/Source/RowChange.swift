internal import LodestoreBytes
internal import LodestoreFormat

/// A change of one row, decoded for the store.
enum RowChange: Sendable {
  case insert(table: Int, [Value])
  /// The values after an update; `nil` for a large value that did not change.
  case update(table: Int, key: [Value], [Value?])
  case delete(table: Int, key: [Value])
  case truncate(tables: [Int])
}

/// Turns messages of pgoutput into changes of followed tables.
struct ChangeDecoder {
  /// A table of the connection, by the number that the server uses.
  private struct Known {
    let table: Int
    /// The position in the message's rows of each column of the plan.
    let places: [Int]
  }

  private let plans: [TablePlan]
  private var known: [UInt32: Known] = [:]
  private let byName: [String: Int]
  private let byRelation: [UInt32: Int]

  init(_ plans: [TablePlan]) {
    self.plans = plans
    byName = Dictionary(
      plans.enumerated().map { ($1.table.label, $0) }, uniquingKeysWith: { first, _ in first })
    byRelation = Dictionary(
      plans.enumerated().map { ($1.relation, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Notes the form of a table; throws when it is no longer that of the copy.
  mutating func note(_ relation: LogicalMessage.Relation) throws(PostgresError) {
    guard let table = byName["\(relation.schema).\(relation.name)"] else {
      if let table = byRelation[relation.id] {
        throw altered(plans[table], nil, "is now \(relation.schema).\(relation.name)")
      }
      known[relation.id] = nil
      return
    }
    let plan = plans[table]
    guard relation.id == plan.relation else {
      throw altered(plan, nil, "is now another table of the name")
    }
    if relation.identity == .nothing {
      throw altered(plan, nil, "now has REPLICA IDENTITY NOTHING; set it to DEFAULT")
    }
    var places: [Int] = []
    for column in plan.columns {
      guard let place = relation.columns.firstIndex(where: { $0.name == column.name }) else {
        throw altered(plan, column.name, "no longer has the column '\(column.name)'")
      }
      guard relation.columns[place].type == column.typeID else {
        throw altered(plan, column.name, "has another type in the column '\(column.name)'")
      }
      places.append(place)
    }
    for position in plan.key where !relation.columns[places[position]].isKey {
      throw altered(
        plan, plan.columns[position].name,
        "has another replica identity, without '\(plan.columns[position].name)'")
    }
    let names = Set(plan.columns.map(\.name)).union(plan.table.ignored)
    if let new = relation.columns.first(where: { !names.contains($0.name) }) {
      throw altered(plan, new.name, "has the new column '\(new.name)'")
    }
    known[relation.id] = Known(table: table, places: places)
  }

  private func altered(
    _ plan: TablePlan, _ column: String?, _ fact: String
  ) -> PostgresError {
    PostgresError(
      .relationChanged,
      "\(plan.table.label) was altered and \(fact); the store is whole up to the alteration. "
        + "Change the entity or the mapping, or ignore the column, and call copyAgain(into:)",
      table: plan.table.label, column: column)
  }

  /// Returns the change of a message; `nil` for a table that is not followed.
  func change(_ message: LogicalMessage) throws(PostgresError) -> RowChange? {
    switch message {
    case .insert(let relation, let tuple):
      guard let found = known[relation] else { return nil }
      let row = try values(tuple, found)
      return .insert(table: found.table, try whole(row, found))
    case .update(let relation, let old, let new):
      guard let found = known[relation] else { return nil }
      let row = try values(new, found)
      let oldKey = try old.map { (old) throws(PostgresError) in try key(old.tuple, found) }
      let plan = plans[found.table]
      let same = plan.key.compactMap { row[$0] }
      guard let key = oldKey ?? (same.count == plan.key.count ? same : nil) else {
        throw malformed(plan, "an update without its key")
      }
      return .update(table: found.table, key: key, row)
    case .delete(let relation, let old):
      guard let found = known[relation] else { return nil }
      return .delete(table: found.table, key: try key(old.tuple, found))
    case .truncate(let relations):
      let tables = relations.compactMap { known[$0]?.table }
      return tables.isEmpty ? nil : .truncate(tables: tables)
    case .begin, .commit, .origin, .relation, .type, .message: return nil
    }
  }

  private func whole(_ row: [Value?], _ found: Known) throws(PostgresError) -> [Value] {
    let values = row.compactMap { $0 }
    guard values.count == row.count else {
      throw malformed(plans[found.table], "an insert without a value")
    }
    return values
  }

  private func values(
    _ tuple: LogicalMessage.Tuple, _ found: Known
  ) throws(PostgresError) -> [Value?] {
    let plan = plans[found.table]
    var row: [Value?] = []
    row.reserveCapacity(found.places.count)
    for (position, place) in found.places.enumerated() {
      row.append(try value(tuple, place, position, plan))
    }
    return row
  }

  private func key(
    _ tuple: LogicalMessage.Tuple, _ found: Known
  ) throws(PostgresError) -> [Value] {
    let plan = plans[found.table]
    var key: [Value] = []
    for position in plan.key {
      let part = try value(tuple, found.places[position], position, plan)
      guard let part, part != .null else { throw malformed(plan, "a key without a value") }
      key.append(part)
    }
    return key
  }

  private func value(
    _ tuple: LogicalMessage.Tuple, _ place: Int, _ position: Int, _ plan: TablePlan
  ) throws(PostgresError) -> Value? {
    guard tuple.fields.indices.contains(place) else {
      throw malformed(plan, "a row of \(tuple.fields.count) columns")
    }
    switch tuple.fields[place] {
    case .null: return try plan.value(nil, position)
    case .unchanged: return nil
    case .binary(let range):
      return try tuple.bytes[range]._withBytes { (bytes) throws(PostgresError) in
        try plan.value(bytes, position)
      }
    case .text: throw malformed(plan, "a value in text form, which was not asked for")
    }
  }

  private func malformed(_ plan: TablePlan, _ fact: String) -> PostgresError {
    PostgresError(
      .malformed,
      "the changes of \(plan.table.label) have \(fact); copy the tables again with "
        + "copyAgain(into:)", table: plan.table.label)
  }
}
