@_spi(Measuring) import EntityStore

/// The reads of a query of the battery.
struct BatteryReads {
  /// Entries and records.
  var count: Int
  var plan: String
}

/// A wrong result of a query of the battery.
struct BatteryError: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) { self.description = description }
}

extension BatteryQuery {
  /// Makes the store's query without running it, to measure only this step.
  func prepare() throws {
    switch subject {
    case .sighting: _ = try query(of: Sighting.self)
    case .broad: _ = try query(of: Broad.self)
    }
  }

  /// Returns the query for the store.
  func query<E: BatteryEntity>(of _: E.Type) throws -> Query<E> {
    var query = E.all
    for part in condition.conjuncts where condition.hasLongList {
      query = query.where(try part.condition())
    }
    if !condition.hasLongList, !condition.conjuncts.isEmpty {
      query = try E.where(format: condition.format)
    }
    if !order.isEmpty {
      query = query.sorted(try order.map { try Self.key($0, E.self) })
    }
    if let limit { query = query.limit(limit) }
    return offset > 0 ? query.offset(offset) : query
  }

  private static func key<E: BatteryEntity>(_ term: Term, _: E.Type) throws -> SortKey<E> {
    func key<V>(_ path: KeyPath<E.Attributes, Attribute<E, V>>) -> SortKey<E> {
      let attribute = E.attributes[keyPath: path]
      return term.isDescending ? attribute.descending : attribute.ascending
    }
    return switch E.column(term.name) {
    case .int(let path): key(path)
    case .optionalInt(let path): key(path)
    case .double(let path): key(path)
    case .optionalDouble(let path): key(path)
    case .text(let path): key(path)
    case .bool(let path): key(path)
    case .json, nil: throw BatteryError("no order by '\(term.name)'")
    }
  }
}

extension BatteryCondition {
  /// Whether a part of the condition is an OR with more parts than a format string may have.
  var hasLongList: Bool {
    conjuncts.contains { if case .any(let parts) = $0 { parts.count > 100 } else { false } }
  }

  func condition<E: BatteryEntity>() throws -> Condition<E> {
    guard case .any(let parts) = self, hasLongList else { return try Condition(format: format) }
    return try anyOf(parts.map { try Condition<E>(format: $0.format) })
  }
}

extension Snapshot {
  func answer(_ query: BatteryQuery) throws -> BatteryAnswer {
    switch query.subject {
    case .sighting: try answer(query, Sighting.self)
    case .broad: try answer(query, Broad.self)
    }
  }

  /// Returns the answer, and the reads that found it.
  func analyzed(_ query: BatteryQuery) throws -> (BatteryAnswer, BatteryReads) {
    var found = BatteryAnswer()
    let explanation = try explaining { found = try answer(query) }
    guard let explanation else {
      // A query for all records in the order of their ids is run without a plan.
      return (found, BatteryReads(count: found.count, plan: "scan all records"))
    }
    let count = (explanation.entriesRead ?? 0) + (explanation.recordsRead ?? 0)
    return (found, BatteryReads(count: count, plan: explanation.description))
  }

  func answer<E: BatteryEntity>(_ given: BatteryQuery, _: E.Type) throws -> BatteryAnswer {
    let query = try given.query(of: E.self)
    let isOrdered = given.isOrdered
    var answer = BatteryAnswer()
    switch given.answer {
    case .rows:
      try forEachView(query) { view in
        answer.add(id: view.id.rawValue, E.readNumber(of: view), isOrdered: isOrdered)
      }
    case .ids: for id in try ids(query) { answer.add(id: id.rawValue, isOrdered: isOrdered) }
    case .count: answer.count = try count(query)
    case .groups(let name, nil):
      var groups = Groups(query: query)
      try E.visit(name, &groups, in: self)
      answer = groups.answer
    case .groups(let name, let sum?):
      var sums = Sums(query: query, summed: try E.integers(sum))
      try E.visit(name, &sums, in: self)
      answer = sums.answer
    case .distinct(let name):
      var values = DistinctValues(query: query)
      try E.visit(name, &values, in: self)
      answer = values.answer
    case .minimum(let name): try addExtreme(query, name, isMaximum: false, &answer)
    case .maximum(let name): try addExtreme(query, name, isMaximum: true, &answer)
    case .sum(let name):
      let sum = try aggregate(query, .sum(try E.integers(name)))
      answer.add(key: BatteryAnswer.key(sum ?? 0))
    case .average(let name):
      guard case .double(let path)? = E.column(name) else {
        throw BatteryError("no average of '\(name)'")
      }
      let average = try aggregate(query, .average(path))
      answer.add(key: average.map { BatteryAnswer.key($0) } ?? BatteryAnswer.nullKey)
    }
    return answer
  }

  private func addExtreme<E: BatteryEntity>(
    _ query: Query<E>, _ name: String, isMaximum: Bool, _ answer: inout BatteryAnswer
  ) throws {
    func add<V: BatteryKey>(
      _ minimum: Aggregate<E, V?>, _ maximum: Aggregate<E, V?>, _ answer: inout BatteryAnswer
    ) throws {
      let value: V? = try aggregate(query, isMaximum ? maximum : minimum)
      answer.add(key: value?.batteryKey ?? BatteryAnswer.nullKey)
    }
    switch E.column(name) {
    case .int(let path): try add(.minimum(path), .maximum(path), &answer)
    case .optionalInt(let path): try add(.minimum(path), .maximum(path), &answer)
    case .double(let path): try add(.minimum(path), .maximum(path), &answer)
    case .optionalDouble(let path): try add(.minimum(path), .maximum(path), &answer)
    case .text(let path): try add(.minimum(path), .maximum(path), &answer)
    case .bool, .json, nil: throw BatteryError("no least or greatest of '\(name)'")
    }
  }
}

// MARK: By the values of one attribute

/// A function of an attribute whose type is not known in advance.
private protocol ColumnVisitor<Subject> {
  associatedtype Subject: BatteryEntity

  mutating func visit<V: BatteryKey>(
    _ path: KeyPath<Subject.Attributes, Attribute<Subject, V>>, in snapshot: borrowing Snapshot
  ) throws
}

extension BatteryEntity {
  fileprivate static func visit(
    _ name: String, _ visitor: inout some ColumnVisitor<Self>, in snapshot: borrowing Snapshot
  ) throws {
    switch column(name) {
    case .int(let path): try visitor.visit(path, in: snapshot)
    case .optionalInt(let path): try visitor.visit(path, in: snapshot)
    case .double(let path): try visitor.visit(path, in: snapshot)
    case .optionalDouble(let path): try visitor.visit(path, in: snapshot)
    case .text(let path): try visitor.visit(path, in: snapshot)
    case .bool(let path): try visitor.visit(path, in: snapshot)
    case .json, nil: throw BatteryError("no groups or values of '\(name)'")
    }
  }

  fileprivate static func integers(
    _ name: String
  ) throws -> KeyPath<Attributes, Attribute<Self, Int>> {
    guard case .int(let path)? = column(name) else { throw BatteryError("no sum of '\(name)'") }
    return path
  }
}

private struct Groups<Subject: BatteryEntity>: ColumnVisitor {
  let query: Query<Subject>
  var answer = BatteryAnswer()

  mutating func visit<V: BatteryKey>(
    _ path: KeyPath<Subject.Attributes, Attribute<Subject, V>>, in snapshot: borrowing Snapshot
  ) throws {
    for group in try snapshot.groups(query, by: path) {
      answer.add(key: group.key.batteryKey, count: group.count)
    }
  }
}

private struct Sums<Subject: BatteryEntity>: ColumnVisitor {
  let query: Query<Subject>
  let summed: KeyPath<Subject.Attributes, Attribute<Subject, Int>>
  var answer = BatteryAnswer()

  mutating func visit<V: BatteryKey>(
    _ path: KeyPath<Subject.Attributes, Attribute<Subject, V>>, in snapshot: borrowing Snapshot
  ) throws {
    let total: Aggregate<Subject, Int?> = .sum(summed)
    for group in try snapshot.groups(query, by: path, total) {
      let sum: Int? = group.values
      answer.add(key: group.key.batteryKey, count: group.count, sum: sum ?? 0)
    }
  }
}

private struct DistinctValues<Subject: BatteryEntity>: ColumnVisitor {
  let query: Query<Subject>
  var answer = BatteryAnswer()

  mutating func visit<V: BatteryKey>(
    _ path: KeyPath<Subject.Attributes, Attribute<Subject, V>>, in snapshot: borrowing Snapshot
  ) throws {
    for value in try snapshot.values(query, path, distinct: true) {
      answer.add(key: value.batteryKey)
    }
  }
}

/// A value of a group, as a number.
protocol BatteryKey: Sendable {
  var batteryKey: UInt64 { get }
}

extension Int: BatteryKey {
  var batteryKey: UInt64 { BatteryAnswer.key(self) }
}

extension Double: BatteryKey {
  var batteryKey: UInt64 { BatteryAnswer.key(self) }
}

extension Bool: BatteryKey {
  var batteryKey: UInt64 { BatteryAnswer.key(self ? 1 : 0) }
}

extension String: BatteryKey {
  var batteryKey: UInt64 { BatteryAnswer.key(utf8: utf8) }
}

extension Optional: BatteryKey where Wrapped: BatteryKey {
  var batteryKey: UInt64 { self?.batteryKey ?? BatteryAnswer.nullKey }
}
