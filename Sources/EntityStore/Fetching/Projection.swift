internal import LMDB
internal import LodestoreBytes
internal import LodestoreEssentials
internal import LodestoreFormat

extension ReadableTransaction where Self: ~Copyable {
  /// Returns some attributes of the records that `query` finds, in its order, without decoding the
  /// others.
  ///
  ///     let versions = try snapshot.values(
  ///       Pod.where { $0.name == "Alamofire" }, \.version, \.updatedAt, \.downloads)
  ///
  /// If one index contains all of them and decides the condition, no record is read.
  ///
  /// - Parameter distinct: whether each combination of values is returned once. Limit and offset
  ///   then count combinations. If the query has no order, combinations are in ascending order,
  ///   null first. If it has one, each combination is at its first occurrence.
  /// - Complexity: O(records that match). Distinct values without an order take one step each in a
  ///   suitable index. The index must begin with the attributes, or have them after attributes that
  ///   the condition fixes to one value. Without such an index a limit does not make distinct
  ///   values cheaper.
  /// - Throws: ``StoreError/Code/invalidQuery`` for a value that is computed from an attribute.
  public func values<E: Entity, First, Second, Third, each V>(
    _ query: Query<E>, _ first: KeyPath<E.Attributes, Attribute<E, First>>,
    _ second: KeyPath<E.Attributes, Attribute<E, Second>>,
    _ third: KeyPath<E.Attributes, Attribute<E, Third>>,
    _ others: repeat KeyPath<E.Attributes, Attribute<E, each V>>, distinct: Bool = false
  ) throws(StoreError) -> [(First, Second, Third, repeat each V)] {
    let attributes = E.attributes
    return try tuples(
      query, attributes[keyPath: first], attributes[keyPath: second], attributes[keyPath: third],
      repeat attributes[keyPath: each others], distinct: distinct)
  }

  /// Returns two attributes of the records that `query` finds, in its order, without decoding the
  /// others.
  public func values<E: Entity, First, Second>(
    _ query: Query<E>, _ first: KeyPath<E.Attributes, Attribute<E, First>>,
    _ second: KeyPath<E.Attributes, Attribute<E, Second>>, distinct: Bool = false
  ) throws(StoreError) -> [(First, Second)] {
    let attributes = E.attributes
    return try tuples(
      query, attributes[keyPath: first], attributes[keyPath: second], distinct: distinct)
  }

  private func tuples<E: Entity, each V>(
    _ query: Query<E>, _ attribute: repeat Attribute<E, each V>, distinct: Bool
  ) throws(StoreError) -> [(repeat each V)] {
    var columns = Columns(of: try access.core.entity(E.self))
    for attribute in repeat each attribute { try columns.append(attribute) }
    var rows: [(repeat each V)] = []
    let order = try forEachRow(query, columns, distinct: distinct) { (values) throws(StoreError) in
      var place = 0
      rows.append((repeat try columns.next(each attribute, &place, of: values)))
    } record: { (reader) throws(StoreError) in
      var place = 0
      rows.append((repeat try columns.next(each attribute, &place, of: &reader)))
    }
    return order.map { $0.map { rows[$0] } } ?? rows
  }

  /// Returns one attribute of the records that `query` finds, in its order, without decoding the
  /// others.
  public func values<E: Entity, V>(
    _ query: Query<E>, _ path: KeyPath<E.Attributes, Attribute<E, V>>, distinct: Bool = false
  ) throws(StoreError) -> [V] {
    let attribute = E.attributes[keyPath: path]
    var columns = Columns(of: try access.core.entity(E.self))
    try columns.append(attribute)
    var found: [V] = []
    // Values from an index are converted in blocks, so that their type is looked up once for a
    // block.
    var stored: [StoredValue] = []
    let order = try forEachRow(query, columns, distinct: distinct) { (values) throws(StoreError) in
      stored.append(StoredValue(values[0]))
      if stored.count == Columns.loadedTogether {
        try columns.move(&stored, attribute, into: &found)
      }
    } record: { (reader) throws(StoreError) in
      try columns.move(&stored, attribute, into: &found)
      var place = 0
      found.append(try columns.next(attribute, &place, of: &reader))
    }
    try columns.move(&stored, attribute, into: &found)
    return order.map { $0.map { found[$0] } } ?? found
  }

  /// Visits the records that `query` finds, or each distinct combination of the columns' values
  /// once.
  ///
  /// - Parameters:
  ///   - body: called with the values of a row that comes from an index.
  ///   - record: called with the record of any other row.
  /// - Returns: the order of the wanted rows, if it differs from the order of the visits; otherwise
  ///   `nil`.
  private func forEachRow<E: Entity>(
    _ query: Query<E>, _ columns: Columns, distinct: Bool,
    _ body: ([Value]) throws(StoreError) -> Void,
    record: (inout RecordReader) throws(StoreError) -> Void
  ) throws(StoreError) -> [Int]? {
    let core = access.core
    let entity = try core.entity(E.self)
    let numbers = columns.numbers
    var request = try query.request()
    try request.checkWindow()
    let window = ResultWindow(request, isDistinct: distinct)
    if distinct {
      request.limit = nil
      request.offset = 0
    }
    let run = try core.run(request, for: entity)
    let isOrdered = distinct && run.isOrdered(by: numbers)
    var visited = 0
    var rowCount = 0
    if isOrdered {
      let count = try run.forEachDistinct(numbers) { (values) throws(StoreError) in
        if window.admitsNext() {
          try body(values)
          rowCount += 1
        }
        return window.goesOn
      }
      guard let count else { return nil }
      visited = count
    } else {
      let isCovered = try run.forEachCovered(numbers) { (values) throws(StoreError) in
        if try window.admits({ ProjectionKey.key(of: values) }) { try body(values) }
        return window.goesOn
      }
      if isCovered { return nil }
    }
    // The index could not supply the remaining rows, so they come from records. If `isOrdered`, the
    // rows are sorted after all records have been visited.
    var keys: [[UInt8]] = []
    try run.forEach { id, bytes in
      try core.withCurrentLayout(bytes, id: id, of: entity) { (view) throws(StoreError) in
        if isOrdered {
          let key = try ProjectionKey.key(of: numbers, in: view)
          guard window.isNew(key) else { return }
          keys.append(key)
        } else {
          let isAdmitted = try window.admits { () throws(StoreError) in
            try ProjectionKey.key(of: numbers, in: view)
          }
          guard isAdmitted else { return }
        }
        var reader = RecordReader(view, entity: entity.label, recordID: id)
        try record(&reader)
      }
      return isOrdered || window.goesOn
    }
    guard isOrdered else { return nil }
    let rest = ProjectionKey.order(keys).dropFirst(visited).filter { _ in window.admitsNext() }
    return Array(0..<rowCount) + rest.map { rowCount + $0 }
  }

  /// Returns some attributes of the records that `query` finds as dictionaries by name, without
  /// nulls.
  ///
  /// Numbers are `Int`, `Double`, or `UInt64` if too large for `Int`. JSON and documents are
  /// `JSONValue`. A name may lead into JSON, as in `license.type`, or to a related record, as in
  /// `group.name`.
  public func dictionaries<E: Entity>(
    _ query: Query<E>, attributes names: [String]
  ) throws(StoreError) -> [[String: any AttributeValue]] {
    let core = access.core
    let run = try core.run(query)
    var binding = ConditionBinding(run.entity, [:], core: core)
    var operands: [(String, BoundOperand)] = []
    for name in names {
      let operand = try binding.operand(.path(ValuePath(dotted: name)))
      guard OperandTypes.kind(operand) != .list else {
        throw .badQuery(
          "'\(name)' has any number of values in each \(run.entity.name); read them as related records"
        )
      }
      core.tracker?.note(operand.region)
      operands.append((name, operand))
    }
    let evaluator = ConditionEvaluator(.constant(true), entity: run.entity, core: core)
    var rows: [[String: any AttributeValue]] = []
    try run.forEach { id, bytes in
      let record = RecordUnderTest(view: try run.entity.view(bytes, id: id), id: id)
      var row: [String: any AttributeValue] = [:]
      for (name, operand) in operands {
        row[name] = try evaluator.value(operand, record).swiftValue
      }
      rows.append(row)
      return true
    }
    return rows
  }
}

extension ValuePath {
  /// Creates the path to an attribute, or to a member within it, from a name with dots, such as
  /// `license.type`.
  init(dotted name: String) {
    let names = name.split(separator: ".", omittingEmptySubsequences: false)
    self.init(.record, names.map { .member(String($0)) })
  }
}

/// Applies limit and offset to distinct rows.
private final class ResultWindow {
  private let isDistinct: Bool
  private var seen: Set<[UInt8]> = []
  private var toSkip: Int
  private var left: Int

  init(_ request: QueryRequest, isDistinct: Bool) {
    self.isDistinct = isDistinct
    toSkip = request.offset
    left = request.limit ?? .max
  }

  /// Whether more rows are wanted.
  ///
  /// Without `distinct`, the plan applies limit and offset.
  var goesOn: Bool { !isDistinct || left > 0 }

  func admits(_ key: () throws(StoreError) -> [UInt8]) throws(StoreError) -> Bool {
    guard isDistinct else { return true }
    guard left > 0, seen.insert(try key()).inserted else { return false }
    return admitsNext()
  }

  /// Returns whether no earlier row has `key`.
  func isNew(_ key: [UInt8]) -> Bool { seen.insert(key).inserted }

  /// Returns whether a row that differs from all earlier ones is within limit and offset.
  func admitsNext() -> Bool {
    guard left > 0 else { return false }
    if toSkip > 0 {
      toSkip -= 1
      return false
    }
    left -= 1
    return true
  }
}

/// Converts attribute values to bytes that are equal if and only if the values are equal.
private enum ProjectionKey {
  static func key(of values: [Value]) -> [UInt8] { values.flatMap { PackedKeys.element($0) } }

  /// Returns the positions of `keys` in ascending order.
  static func order(_ keys: [[UInt8]]) -> [Int] {
    keys.indices.sorted { a, b in
      keys[a]._withBytes { a in keys[b]._withBytes { compareKeys(a, $0) < 0 } }
    }
  }

  static func key(of numbers: [UInt32], in view: RecordView) throws(StoreError) -> [UInt8] {
    var encoder = KeyEncoder()
    for number in numbers {
      guard let index = view.layout.slotIndex(ofAttribute: number) else { continue }
      let slot = view.layout.slots[index]
      if view.isNull(slot) {
        encoder.appendNull()
      } else if slot.type.isIndexable {
        try wrappingErrors { try IndexTuple.append(slot, of: view, into: &encoder) }
      } else {
        encoder.append(data: view.variableBytes(slot))
      }
    }
    return Array(encoder.bytes)
  }
}

extension DynamicValue {
  /// The value as the Swift type for its kind; `nil` for null.
  var swiftValue: (any AttributeValue)? {
    switch owned {
    case .null: nil
    case .bool(let flag): flag
    case .integer(let number): Int(number)
    case .unsigned(let number): number
    case .double(let number): number
    case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
    case .uuid(let uuid): UUID._value(from: StoredValue(.uuid(uuid)))
    case .decimal(let number): Decimal(number)
    case .string(let text): text
    case .data(let bytes): Data(bytes)
    case .document(let bytes): bytes._withBytes { try? JSONValue(anyDocument: $0) }
    }
  }
}
