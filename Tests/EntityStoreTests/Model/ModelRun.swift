import Testing

@testable import EntityStore

/// Does the same random operations to a store and to a ``StoreModel``, and compares.
struct ModelRun<Item: ModelItem> {
  var model: StoreModel
  var numbers: SeededNumbers
  private(set) var operations = 0
  private let keyCount: Int

  private struct Abort: Error {}

  init(model: StoreModel, numbers: SeededNumbers, keyCount: Int = 200) {
    self.model = model
    self.numbers = numbers
    self.keyCount = keyCount
  }

  /// One transaction of up to 30 operations, one in eight aborted.
  mutating func runTransaction(on store: Store) throws {
    var attempt = self
    do {
      try store.write { transaction in
        for _ in 0...attempt.numbers.below(30) {
          attempt.operations += 1
          try attempt.runOperation(&transaction)
        }
        if attempt.numbers.oneIn(8) { throw Abort() }
      }
      self = attempt
    } catch is Abort {
      numbers = attempt.numbers
      operations = attempt.operations
    }
  }

  private mutating func runOperation(
    _ transaction: inout WriteTransaction
  ) throws {
    switch numbers.below(1000) {
    case 0..<250: try insertOne(&transaction)
    case 250..<300: try insertMany(&transaction)
    case 300..<500: try update(&transaction)
    case 500..<700: try deleteSome(&transaction)
    case 700..<850: try lookUp(transaction)
    case 850..<998: try walk(transaction)
    default:
      try transaction.deleteAll(Item.self)
      model.deleteAll()
    }
  }

  // MARK: Changes

  private mutating func randomRow() -> ModelRow {
    // Long notes share what a key holds of them, so that their order is decided by the records.
    let notes: [String?] = [
      nil, "", "a", "a\u{0}b", "e\u{301}", "é", String(repeating: "x", count: 461),
      String(repeating: "x", count: 480), String(repeating: "x", count: 480) + "y",
      String(repeating: "x", count: 470) + "\u{0}", "note \(numbers.below(50))",
    ]
    let groups: [String?] = [nil, nil, "A", "AF", "A\u{0}"]
    return ModelRow(
      key: "key \(numbers.below(keyCount))", number: numbers.below(60) - 30,
      group: groups[numbers.below(groups.count)], note: notes[numbers.below(notes.count)],
      extra: Item.hasExtra ? numbers.below(5) : ModelRow.initialExtra)
  }

  private mutating func randomID() -> UInt64 {
    UInt64(1 + numbers.below(Int(model.nextID) + 1))
  }

  /// Runs both; they must agree on the result, or on the refusal.
  private func agree<R: Equatable>(
    _ what: String, _ expected: () throws -> R, _ actual: () throws -> R
  ) throws {
    let wanted = Result(catching: expected)
    do {
      let found = try actual()
      guard case .success(let value) = wanted else {
        throw Disagreement("\(what): gives \(found), the model refuses with \(wanted)")
      }
      if value != found { throw Disagreement("\(what): gives \(found), the model \(value)") }
    } catch let error as StoreError {
      try checkRefusal(what, wanted, error)
    }
  }

  private func checkRefusal<R>(
    _ what: String, _ wanted: Result<R, any Error>, _ error: StoreError
  ) throws {
    guard case .failure(let refusal as StoreModel.Refusal) = wanted else {
      throw Disagreement("\(what): throws \(error), the model gives \(wanted)")
    }
    switch refusal {
    case .noSuchRecord:
      if error.code != .noSuchRecord { throw Disagreement("\(what): wrong refusal \(error)") }
    case .held(let holders):
      let isHolder = error.recordID.map { holders.contains($0) } ?? true
      guard error.code == .uniqueViolation, error.entity == "Item", isHolder else {
        throw Disagreement("\(what): wrong refusal \(error), the model has \(holders)")
      }
    }
  }

  private mutating func insertOne(_ transaction: inout WriteTransaction) throws {
    let row = randomRow()
    let mode = numbers.below(4)
    var next = model
    try agree(
      "insert mode \(mode)", { try insert(row, mode: mode, into: &next) },
      { try transaction.insert(Item(row), onConflict: conflict(mode)).rawValue })
    model = next
  }

  private func conflict(_ mode: Int) -> InsertConflict<Item> {
    switch mode {
    case 0: .fail
    case 1: .ignore
    case 2: .replace
    default: .patch(Item.patched)
    }
  }

  /// What an insert does to the model; returns the record's id.
  private func insert(_ row: ModelRow, mode: Int, into model: inout StoreModel) throws -> UInt64 {
    let held = model.holders(of: row)
    guard mode > 0, let holder = held.first else { return try model.insert(row) }
    guard held.count == 1, let stored = model.rows[holder] else {
      throw StoreModel.Refusal.held(by: held)
    }
    if mode == 1 { return holder }
    var changed = row
    if mode == 3 {
      changed = stored
      changed.note = row.note
      changed.extra = row.extra
    }
    _ = try model.update(holder, changed)
    return holder
  }

  private mutating func insertMany(_ transaction: inout WriteTransaction) throws {
    let batch = (0..<numbers.below(12)).map { _ in randomRow() }
    var next = model
    try agree(
      "insert many", { try next.insert(contentsOf: batch) },
      { try transaction.insert(contentsOf: batch.map { Item($0) }).ids.map(\.rawValue) })
    model = next
  }

  private mutating func update(_ transaction: inout WriteTransaction) throws {
    let id = randomID()
    let row = numbers.oneIn(4) ? model.rows[id] ?? randomRow() : randomRow()
    var item = Item(row)
    item.id = RecordID(rawValue: id)
    var next = model
    try agree("update \(id)", { try next.update(id, row) }, { try transaction.update(item) })
    model = next
  }

  private mutating func deleteSome(_ transaction: inout WriteTransaction) throws {
    if numbers.oneIn(10) {
      let ids = Set((0..<numbers.below(8)).map { _ in randomID() })
      var next = model
      try agree(
        "delete many", { ids.reduce(0) { next.delete($1) ? $0 + 1 : $0 } },
        { try transaction.delete(Item.self, ids: ids.map { RecordID(rawValue: $0) }) })
      model = next
    } else {
      // Often the newest record, whose id must not come back.
      let id = numbers.oneIn(4) ? model.nextID - 1 : randomID()
      var next = model
      try agree(
        "delete \(id)", { next.delete(id) },
        { try transaction.delete(Item.self, id: RecordID(rawValue: id)) })
      model = next
    }
  }

  // MARK: Reads

  private mutating func lookUp(_ view: borrowing WriteTransaction) throws {
    let row = randomRow()
    let id = randomID()
    let byID = try view.fetch(Item.self, id: RecordID(rawValue: id))
    try expectEqual("fetch \(id)", byID?.row, model.rows[id])
    let holder = model.holder(of: .key(row.key))
    let byKey = try view.fetch(Item.byKey, key: row.key)
    try expectEqual("fetch by key", byKey?.id.rawValue, holder)
    let keys = (0..<10).map { _ in "key \(numbers.below(keyCount))" }
    let many = try view.fetch(Item.byKey, keys: keys)
    try expectEqual(
      "fetch by keys", many.map { $0?.id.rawValue }, keys.map { model.holder(of: .key($0)) })
    if let group = row.group {
      try expectEqual(
        "fetch by group and number",
        try view.fetch(Item.byGroupNumber, key: group, row.number)?.id.rawValue,
        model.holder(of: .groupNumber(group, row.number)))
    }
  }

  private mutating func walk(_ view: borrowing WriteTransaction) throws {
    switch numbers.below(4) {
    case 0:
      let bounds = [randomRow().number, randomRow().number]
      try walk(
        view, Item.byNumber, model.ordered(by: \.number, <), bounds,
        { IndexBounds<Int>().from($0) }, { .init().after($0) }, { $0.through($1) },
        { $0.upTo($1) }, <)
    case 1:
      let bounds = [randomRow().key, randomRow().key]
      try walk(
        view, Item.byKey, model.ordered(by: \.key, utf8Precedes), bounds,
        { IndexBounds<String>().from($0) }, { .init().after($0) }, { $0.through($1) },
        { $0.upTo($1) }, utf8Precedes)
    default:
      let bounds = [randomRow().note, randomRow().note]
      try walk(
        view, Item.byNote, model.ordered(by: \.note, utf8Precedes), bounds,
        { IndexBounds<String?>().from($0) }, { .init().after($0) }, { $0.through($1) },
        { $0.upTo($1) }, utf8Precedes)
    }
  }

  private mutating func walk<Value: IndexableValue>(
    _ view: borrowing WriteTransaction, _ index: EntityIndex<Item, Value>,
    _ all: [(id: UInt64, value: Value)], _ bounds: [Value],
    _ from: (Value) -> IndexBounds<Value>, _ after: (Value) -> IndexBounds<Value>,
    _ through: (IndexBounds<Value>, Value) -> IndexBounds<Value>,
    _ upTo: (IndexBounds<Value>, Value) -> IndexBounds<Value>,
    _ isBefore: (Value, Value) -> Bool
  ) throws {
    var within = IndexBounds<Value>()
    var expected = all
    switch numbers.below(3) {
    case 0:
      within = from(bounds[0])
      expected.removeAll { isBefore($0.value, bounds[0]) }
    case 1:
      within = after(bounds[0])
      expected.removeAll { !isBefore(bounds[0], $0.value) }
    default: break
    }
    switch numbers.below(3) {
    case 0:
      within = through(within, bounds[1])
      expected.removeAll { isBefore(bounds[1], $0.value) }
    case 1:
      within = upTo(within, bounds[1])
      expected.removeAll { !isBefore($0.value, bounds[1]) }
    default: break
    }
    let isReversed = numbers.oneIn(2)
    let limit = numbers.oneIn(2) ? Int.max : numbers.below(20)
    let ids = isReversed ? expected.map(\.id).reversed() : expected.map(\.id)
    let found = try view.ids(index, within: within, isReversed: isReversed, limit: limit)
    try expectEqual("walk", found.map(\.rawValue), Array(ids.prefix(limit)))
    try expectEqual("count", try view.count(index, within: within), ids.count)
  }

  func compareContents(_ snapshot: borrowing Snapshot) throws {
    let stored = try snapshot.fetchAll(Item.self).map { ($0.id.rawValue, $0.row) }
    try expectEqual("count", try snapshot.count(of: Item.self), model.rows.count)
    try expectEqual("order of ids", stored.map(\.0), model.rows.keys.sorted())
    for (id, row) in stored { try expectEqual("record \(id)", row, model.rows[id]) }
  }

  private func expectEqual<V: Equatable>(_ what: String, _ found: V, _ expected: V) throws {
    if found != expected { throw Disagreement("\(what): gives \(found), the model \(expected)") }
  }
}

/// Store and model differ.
struct Disagreement: Error, CustomStringConvertible {
  let description: String

  init(_ what: String) { description = "\(what); \(SeededNumbers.replay)" }
}
