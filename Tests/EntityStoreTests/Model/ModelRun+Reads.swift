@testable import EntityStore

// Reads of all kinds, also within a write transaction.

extension ModelRun {
  mutating func lookUp(_ view: borrowing WriteTransaction) throws {
    let row = randomRow()
    let id = randomID()
    let byID = try view.fetch(RecordID<Item>(rawValue: id))
    try expectEqual("fetch \(id)", byID?.row, seen(model.rows[id]))
    let holder = model.holder(of: .key(row.key))
    let byKey = try view.fetch(Item.byKey.key(row.key))
    try expectEqual("fetch by key", byKey?.id.rawValue, holder)
    let keys = (0..<10).map { _ in "key \(numbers.below(keyCount))" }
    let many = try view.fetch(Item.byKey, keys: keys)
    try expectEqual(
      "fetch by keys", many.map { $0?.id.rawValue }, keys.map { model.holder(of: .key($0)) })
    if let group = row.group {
      try expectEqual(
        "fetch by group and number",
        try view.fetch(Item.byGroupNumber.key(group, row.number))?.id.rawValue,
        model.holder(of: .groupNumber(group, row.number)))
    }
  }

  mutating func walk(_ view: borrowing WriteTransaction) throws {
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
    let stored = try snapshot.fetch(Item.all).map { ($0.id.rawValue, $0.row) }
    try expectEqual("count", try snapshot.count(Item.all), model.rows.count)
    try expectEqual("order of ids", stored.map(\.0), model.rows.keys.sorted())
    let tagged = try snapshot.fetch(ModelTag.all).map { ($0.id.rawValue, $0.row) }
    try expectEqual("tags", Dictionary(uniqueKeysWithValues: tagged), tags.rows)
    for (id, row) in stored { try expectEqual("record \(id)", row, seen(model.rows[id])) }
  }
}
