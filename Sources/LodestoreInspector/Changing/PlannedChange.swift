internal import EntityStore
internal import LodestoreFormat
internal import LodestoreRows

/// A change with all its values, and the state of the store for which it was asked.
struct PlannedChange: Sendable {
  enum Action: Sendable {
    case insert(String, [String: Value])
    case update(String, UInt64, [(name: String, value: Value)], before: [Value])
    case delete(String, UInt64, before: [Value])
    case links(PlannedLinks)
    case updateSelected(String, Selection, [Assignment], Selected)
    case deleteSelected(String, Selection, Selected)
    case undo(UInt64)
  }

  /// The selected records, without their values.
  struct Selected: Hashable, Sendable {
    var count: Int
    /// A hash of the ids and the checksums, valid in this process.
    var digest: Int
  }

  let edit: EditRoute
  let action: Action
  /// The changes that the question has named.
  var changes = DynamicChanges()

  /// The maximum number of selected records.
  static let mostSelected = 100_000

  // MARK: Planning

  /// Reads the values of a change, and the state that it is for.
  ///
  /// - Throws: ``ChangeRefusal``, ``AddressError`` and `StoreError`.
  init(_ edit: EditRoute, _ input: ChangeInput, _ reading: PageReading) throws {
    self.edit = edit
    let snapshot = reading.snapshot
    switch edit {
    case .insert(let name):
      let values = try EditValues(reading.entity(name), snapshot).read(input, over: nil)
      action = .insert(
        name, Dictionary(values.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }))
    case .update(let name, let id):
      let entity = try reading.entity(name)
      let values = EditValues(entity, snapshot)
      let present = try values.current(try Self.record(id, of: entity, snapshot))
      if let state = input.text("state"), state != Self.state(of: present) {
        throw ChangeRefusal(
          409,
          "\(name) \(id) has changed since the form was opened. The form has the texts that you "
            + "wrote; compare them with the record before you continue.")
      }
      let changed = try values.read(input, over: present)
      guard !changed.isEmpty else { throw ChangeRefusal(422, "No value differs.") }
      action = .update(name, id, changed, before: present)
    case .delete(let name, let id):
      let entity = try reading.entity(name)
      let record = try Self.record(id, of: entity, snapshot)
      action = .delete(name, id, before: try EditValues(entity, snapshot).current(record))
    case .links(let name, let id, let relationship):
      action = .links(try PlannedLinks(name, id, relationship, input, reading))
    case .updateSelected(let name, let selection):
      let entity = try reading.entity(name)
      let assignments = try Self.assignments(input)
      for assignment in assignments { _ = try Self.bound(assignment, entity, snapshot) }
      let selected = try Self.selected(selection, of: entity, reading)
      action = .updateSelected(name, selection, assignments, selected)
    case .deleteSelected(let name, let selection):
      let selected = try Self.selected(selection, of: try reading.entity(name), reading)
      action = .deleteSelected(name, selection, selected)
    case .undo(let number):
      guard try reading.write(number) != nil else {
        throw AddressError.notFound("the history has no write \(number)")
      }
      action = .undo(number)
    case .confirm: throw AddressError.unknownPath(Route.edit(edit).address.text)
    }
  }

  /// A text that differs for other values, valid in this process.
  static func state(of values: [Value]) -> String { "\(values.hashValue)" }

  static func record(
    _ id: UInt64, of entity: DynamicEntity, _ snapshot: DynamicSnapshot
  ) throws -> DynamicRecord {
    guard let record = try snapshot.record(id, of: entity) else {
      throw AddressError.notFound("\(entity.name) has no record \(id)")
    }
    return record
  }

  /// The assignments of a form, one on each line, or of an object.
  private static func assignments(_ input: ChangeInput) throws(ChangeRefusal) -> [Assignment] {
    var texts: [String]
    switch input {
    case .form(let items):
      texts = (items["assign"] ?? "").split(separator: "\n").map(String.init)
    case .json(let object):
      texts = (object["assign"]?.elements.compactMap(\.string)) ?? []
    }
    texts.removeAll { $0.allSatisfy(\.isWhitespace) }
    guard !texts.isEmpty else {
      throw ChangeRefusal([
        ("assign", "has no assignment; write attribute=value or attribute:=expression")
      ])
    }
    var all: [Assignment] = []
    for text in texts {
      guard let assignment = Assignment(text) else {
        throw ChangeRefusal([
          (
            "assign",
            "'\(text)' is no assignment; write attribute=value or attribute:=expression"
          )
        ])
      }
      if all.contains(where: { $0.attribute == assignment.attribute }) {
        throw ChangeRefusal([("assign", "'\(assignment.attribute)' is set twice")])
      }
      all.append(assignment)
    }
    return all
  }

  private static func bound(
    _ assignment: Assignment, _ entity: DynamicEntity, _ snapshot: DynamicSnapshot
  ) throws -> DynamicAssignment {
    guard let attribute = entity.description.attribute(named: assignment.attribute),
      attribute.derivation == nil
    else {
      let known = EditValues(entity, snapshot).attributes.map(\.name)
      let text = PageReading.missing(
        "\(entity.name) has no attribute that takes a value and is named", assignment.attribute,
        among: known)
      throw ChangeRefusal([("assign", text)])
    }
    do {
      return try assignment.bound(as: attribute, of: entity, in: snapshot)
    } catch let error as AssignmentError {
      throw ChangeRefusal([("assign", "'\(attribute.name)' \(error.reason)")])
    } catch let error as StoreError where error.code == .invalidQuery {
      throw ChangeRefusal([("assign", error.message)])
    }
  }

  private static func request(
    _ selection: Selection, of entity: DynamicEntity, _ snapshot: DynamicSnapshot
  ) throws -> QueryRequest {
    var request = try SelectedQuery(
      snapshot: snapshot, entity: entity, selection: selection.ofRecords
    ).request()
    request.order = []
    return request
  }

  private static func selected(
    _ selection: Selection, of entity: DynamicEntity, _ reading: PageReading
  ) throws -> Selected {
    let request = try request(selection, of: entity, reading.snapshot)
    let control = reading.limits.time(reading.limits.rows).control
    let query = try reading.snapshot.query(request, of: entity)
    let count = try query.count(control: control)
    guard count > 0 else { throw ChangeRefusal(422, "No record is selected.") }
    guard count <= mostSelected else {
      throw ChangeRefusal(
        422,
        "\(NumberText.grouped(count)) records are selected, and a change here has at most "
          + "\(NumberText.grouped(mostSelected)); use 'kvdump update' or 'kvdump delete'.")
    }
    var hasher = Hasher()
    try reading.snapshot.forEachChecksum(of: request, entity) { id, checksum in
      hasher.combine(id)
      hasher.combine(checksum)
    }
    return Selected(count: count, digest: hasher.finalize())
  }

  // MARK: Making

  /// Makes the change, if the state is the one of the question.
  ///
  /// - Returns: the id of a new record.
  func apply(_ transaction: DynamicTransaction, _ reading: PageReading) throws -> UInt64? {
    let snapshot = reading.snapshot
    switch action {
    case .insert(let name, let values):
      return try transaction.insert(values, into: try reading.entity(name))
    case .update(let name, let id, let values, let before):
      let entity = try reading.entity(name)
      try Self.check(id, of: entity, before, snapshot)
      _ = try transaction.update(
        Self.request(id), of: entity,
        values.map { DynamicAssignment($0.name, value: $0.value) })
    case .delete(let name, let id, let before):
      let entity = try reading.entity(name)
      try Self.check(id, of: entity, before, snapshot)
      _ = try transaction.delete(Self.request(id), of: entity)
    case .links(let links): try links.apply(transaction, reading)
    case .updateSelected(let name, let selection, let assignments, let selected):
      let entity = try reading.entity(name)
      try Self.check(selection, of: entity, selected, reading)
      _ = try transaction.update(
        Self.request(selection, of: entity, snapshot), of: entity,
        assignments.map { try Self.bound($0, entity, snapshot) })
    case .deleteSelected(let name, let selection, let selected):
      let entity = try reading.entity(name)
      try Self.check(selection, of: entity, selected, reading)
      _ = try transaction.delete(
        Self.request(selection, of: entity, snapshot), of: entity)
    case .undo(let number): try transaction.undo(number)
    }
    return nil
  }

  private static func request(_ id: UInt64) -> QueryRequest {
    QueryRequest(equal: [(DynamicRecord.idName, .integer(unsigned: id))])
  }

  private static func check(
    _ selection: Selection, of entity: DynamicEntity, _ asked: Selected, _ reading: PageReading
  ) throws {
    let found = try selected(selection, of: entity, reading)
    guard found != asked else { return }
    var refusal = ChangeRefusal(
      409, "The selected records have changed since the question. Nothing was changed now.")
    refusal.states = states([
      ("selected records", .count(asked.count), .count(found.count)),
      (
        "their values", .text("as asked"),
        .text(found.digest == asked.digest ? "as asked" : "changed")
      ),
    ])
    throw refusal
  }

  private static func check(
    _ id: UInt64, of entity: DynamicEntity, _ before: [Value], _ snapshot: DynamicSnapshot
  ) throws {
    let values = EditValues(entity, snapshot)
    guard let record = try snapshot.record(id, of: entity) else {
      throw ChangeRefusal(
        409, "\(entity.name) \(id) was deleted since the question. Nothing was changed now.")
    }
    let now = try values.current(record)
    guard now != before else { return }
    var refusal = ChangeRefusal(
      409, "\(entity.name) \(id) has changed since the question. Nothing was changed now.")
    refusal.states = states(
      zip(values.attributes, zip(before, now)).filter { $1.0 != $1.1 }.map { attribute, pair in
        (attribute.name, Self.cell(pair.0), Self.cell(pair.1))
      })
    throw refusal
  }

  static func cell(_ value: Value) -> Cell { (try? Cell(value)) ?? .text("(damaged value)") }

  /// A table with a state when the question was asked, and the present one.
  static func states(_ rows: [(name: String, asked: Cell, now: Cell)]) -> Table {
    Table(
      [
        Table.Heading(Column("name", title: "Value")),
        Table.Heading(Column("asked", title: "When asked", alignment: .leading)),
        Table.Heading(Column("now", title: "Now", alignment: .leading)),
      ],
      rows.map { Table.Row([Item(.text($0.name)), Item($0.asked), Item($0.now)]) })
  }
}
