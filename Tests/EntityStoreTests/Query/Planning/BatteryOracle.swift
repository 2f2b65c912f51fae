/// The answers of the battery's queries from the records in memory, by Swift's own comparisons.
struct BatteryOracle {
  private let records: [BatteryQuery.Subject: [Record]]
  private let places: [BatteryQuery.Subject: [String: Int]]
  private let readPlaces: [BatteryQuery.Subject: Int]

  private typealias Record = (id: Int, values: [BatteryLiteral])

  init(count: Int) {
    func make<E: BatteryEntity>(_: E.Type, _ count: Int) -> [Record] {
      (0..<count).map { ($0 + 1, E.numbered($0, of: count).values) }
    }
    func places<E: BatteryEntity>(_: E.Type) -> [String: Int] {
      Dictionary(uniqueKeysWithValues: E.columns.enumerated().map { ($1.name, $0) })
    }
    records = [.sighting: make(Sighting.self, count), .broad: make(Broad.self, count / 10)]
    self.places = [.sighting: places(Sighting.self), .broad: places(Broad.self)]
    readPlaces = [
      .sighting: self.places[.sighting]?[Sighting.readName] ?? 0,
      .broad: self.places[.broad]?[Broad.readName] ?? 0,
    ]
  }

  /// Returns the answer; `nil` if a part of the condition exists only as text, which the oracle
  /// cannot evaluate.
  func answer(_ query: BatteryQuery) -> BatteryAnswer? {
    let places = places[query.subject] ?? [:]
    guard let admits = test(query.condition, places) else { return nil }
    var found = (records[query.subject] ?? []).filter(admits)
    var answer = BatteryAnswer()
    func value(_ name: String, _ record: Record) -> BatteryLiteral {
      record.values[places[name] ?? 0]
    }
    switch query.answer {
    case .rows, .ids:
      sort(&found, query, places)
      let isRead = query.answerNames == nil
      for record in found.dropFirst(query.offset).prefix(query.limit ?? .max) {
        let number = isRead ? record.values[readPlaces[query.subject] ?? 0].batteryKey : 0
        answer.add(id: UInt64(record.id), number, isOrdered: query.isOrdered)
      }
    case .count: answer.count = found.count
    case .groups(let name, let sum):
      for (key, group) in Dictionary(grouping: found, by: { value(name, $0) }) {
        let total = sum.map { sum in group.reduce(0) { $0 + value(sum, $1).integer } } ?? 0
        answer.add(key: key.batteryKey, count: group.count, sum: total)
      }
    case .distinct(let name):
      for key in Set(found.map { value(name, $0) }) { answer.add(key: key.batteryKey) }
    case .minimum(let name), .maximum(let name):
      let values = found.map { value(name, $0) }.filter { $0 != .null }
      let isMinimum = if case .minimum = query.answer { true } else { false }
      let extreme = isMinimum ? values.min() : values.max()
      answer.add(key: extreme?.batteryKey ?? BatteryAnswer.nullKey)
    case .sum(let name):
      answer.add(key: BatteryAnswer.key(found.reduce(0) { $0 + value(name, $1).integer }))
    case .average(let name):
      let values = found.compactMap { value(name, $0).number }
      let average = values.reduce(0, +) / Double(max(1, values.count))
      answer.add(key: values.isEmpty ? BatteryAnswer.nullKey : BatteryAnswer.key(average))
    }
    return answer
  }

  private func sort(_ found: inout [Record], _ query: BatteryQuery, _ places: [String: Int]) {
    guard !query.order.isEmpty else { return }
    let terms = query.order.map { (place: places[$0.name] ?? 0, isDescending: $0.isDescending) }
    found.sort { a, b in
      for term in terms where a.values[term.place] != b.values[term.place] {
        return (a.values[term.place] < b.values[term.place]) != term.isDescending
      }
      return (a.id < b.id) != query.isTieDescending
    }
  }

  private typealias Test = (Record) -> Bool

  private func test(_ condition: BatteryCondition, _ places: [String: Int]) -> Test? {
    func value(_ name: String, _ test: @escaping (BatteryLiteral) -> Bool) -> Test {
      if name == "_id" { return { test(.int($0.id)) } }
      let place = places[name] ?? 0
      return { test($0.values[place]) }
    }
    func text(_ name: String, _ test: @escaping (String) -> Bool) -> Test {
      value(name) { if case .text(let text) = $0 { test(text) } else { false } }
    }
    switch condition {
    case .compare(let name, let comparison, let other):
      return value(name) { $0.fulfils(comparison, other) }
    case .between(let name, let low, let high):
      return value(name) { $0.fulfils(.atLeast, low) && $0.fulfils(.atMost, high) }
    case .isIn(let name, let list):
      let set = Set(list)
      return value(name) { set.contains($0) }
    case .begins(let name, let prefix): return text(name) { $0.hasPrefix(prefix) }
    case .contains(let name, let part): return text(name) { $0.contains(part) }
    case .like(let name, let pattern), .matches(let name, _, let pattern):
      let parts = pattern.split(separator: "*", omittingEmptySubsequences: false).map(String.init)
      return text(name) { Self.isLike($0, parts) }
    case .opaque: return nil
    case .all(let parts):
      let tests = parts.compactMap { test($0, places) }
      guard tests.count == parts.count else { return nil }
      return { record in tests.allSatisfy { $0(record) } }
    case .any(let parts):
      let tests = parts.compactMap { test($0, places) }
      guard tests.count == parts.count else { return nil }
      return { record in tests.contains { $0(record) } }
    case .not(let part): return test(part, places).map { test in { !test($0) } }
    }
  }

  /// Whether `text` has the parts one after the other, the first at its beginning, the last at its
  /// end.
  private static func isLike(_ text: String, _ parts: [String]) -> Bool {
    guard let first = parts.first, let last = parts.last, parts.count > 1 else {
      return text == parts.first
    }
    guard text.hasPrefix(first) else { return false }
    var rest = text.dropFirst(first.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let range = rest.firstRange(of: part) else { return false }
      rest = rest[range.upperBound...]
    }
    return rest.hasSuffix(last)
  }
}

extension BatteryLiteral: Comparable {
  var batteryKey: UInt64 {
    switch self {
    case .null: BatteryAnswer.nullKey
    case .int(let number): number.batteryKey
    case .double(let number): number.batteryKey
    case .text(let text): text.batteryKey
    case .bool(let flag): flag.batteryKey
    }
  }

  fileprivate var integer: Int { if case .int(let number) = self { number } else { 0 } }
  fileprivate var number: Double? {
    switch self {
    case .int(let number): Double(number)
    case .double(let number): number
    default: nil
    }
  }

  /// Null comes first; two other values are always of one type here.
  static func < (a: BatteryLiteral, b: BatteryLiteral) -> Bool {
    switch (a, b) {
    case (.null, .null): false
    case (.null, _): true
    case (.int(let a), .int(let b)): a < b
    case (.text(let a), .text(let b)): a < b
    case (.bool(let a), .bool(let b)): !a && b
    default: if let a = a.number, let b = b.number { a < b } else { false }
    }
  }

  fileprivate func fulfils(
    _ comparison: BatteryCondition.Comparison, _ other: BatteryLiteral
  ) -> Bool {
    switch comparison {
    case .equal: self == other
    case .notEqual: self != other
    // Null has no order among values.
    case .less: self != .null && self < other
    case .atMost: self != .null && self <= other
    case .greater: self != .null && other < self
    case .atLeast: self != .null && other <= self
    }
  }
}
