@testable import EntityStore

// Changes of a query's results.

extension ModelRun {
  private mutating func randomChange() -> ModelChange {
    switch numbers.below(10) {
    case 0: .number(randomNumber())
    case 1: .numberPlus(numbers.below(9) - 4)
    case 2: .numberTimesPlus(-1, numbers.below(3))
    case 3: .group(nil)
    case 4: numbers.oneIn(4) ? .group("AF") : .group(nil)
    case 5, 6: Version.hasExtra ? .extra(numbers.below(5)) : .note("plain")
    case 7: .note(nil)
    default: .note(randomRow().note)
    }
  }

  mutating func updateMany(_ transaction: inout WriteTransaction) throws {
    let range = numbers.oneIn(4) ? -1_000_000...1_000_000 : randomNumbers()
    let change = randomChange()
    guard numbers.oneIn(3) else { return try update(range, change, &transaction) }
    let limit = numbers.below(20)
    let ids = model.ids(numbered: range, limit: limit)
    let query = Item.isNumbered(range).sorted(by: \.key)
    try changed(ids, change) {
      try transaction.update(query.limit(limit)) { Item.update(change, &$0) }
    }
  }

  /// Applies `change` to all rows whose number is within `range`.
  mutating func update(
    _ range: ClosedRange<Int>, _ change: ModelChange, _ transaction: inout WriteTransaction
  ) throws {
    let isAll = range.lowerBound == -1_000_000
    try changed(model.ids(numbered: range), change) {
      try transaction.update(isAll ? Item.all : Item.isNumbered(range)) {
        Item.update(change, &$0)
      }
    }
  }

  private mutating func changed(
    _ ids: [UInt64], _ change: ModelChange, _ body: () throws -> Int
  ) throws {
    var next = model
    // After a refused update the state is that before the call, and the transaction continues.
    if try agree("update by \(change)", { try next.update(ids, change) }, body) { model = next }
  }

  mutating func deleteMany(_ transaction: inout WriteTransaction) throws {
    // Above 250 rows, most are deleted, which limits the time that the model takes.
    let range = model.rows.count > 250 ? -20...1_000_000 : randomNumbers()
    let query = Item.isNumbered(range)
    let limit = numbers.below(20)
    var next = model
    switch numbers.below(3) {
    case 0:
      let ids = model.ids(numbered: range)
      try agree(
        "delete where", { next.delete(ids) },
        { try transaction.delete(query) })
    case 1:
      let ids = model.ids(numbered: range, limit: limit)
      try agree(
        "delete up to \(limit)", { next.delete(ids) },
        { try transaction.delete(query.sorted(by: \.key).limit(limit)) })
    default:
      let ids = model.ids(numbered: range, limit: limit)
      let rows = ids.map { seen(model.rows[$0]) }
      _ = next.delete(ids)
      try agree(
        "delete and return", { rows },
        {
          try transaction.deleteReturning(query.sorted(by: \.key).limit(limit))
            .map { $0.row }
        })
    }
    model = next
  }

  // MARK: The second entity

  mutating func changeTags(_ transaction: inout WriteTransaction) throws {
    var next = tags
    let bound = numbers.below(40)
    switch numbers.below(6) {
    case 0:
      try agree(
        "set counts", { next.update { $0.count = bound } },
        { try transaction.update(ModelTag.all) { $0.count = bound } })
    case 1:
      try agree(
        "add to counts", { next.update { $0.count += 1 } },
        { try transaction.update(ModelTag.all) { $0.count.add(1) } })
    case 2:
      let weight = bound % 3 == 0 ? nil : Double(bound)
      try agree(
        "set weights", { next.update { if $0.count < bound { $0.weight = weight } } },
        {
          try transaction.update(ModelTag.where { $0.count < bound }) { $0.weight = weight }
        })
    case 3:
      try agree(
        "delete tags", { next.delete { $0.count > bound } },
        { try transaction.delete(ModelTag.where { $0.count > bound }) })
    default:
      let rows = (0..<numbers.below(20)).map { _ in
        TagRow(
          name: "tag \(numbers.below(30))", count: numbers.below(40),
          weight: numbers.oneIn(3) ? nil : Double(numbers.below(5)))
      }
      try agree(
        "replace tags", { next.replace(rows) },
        {
          let result = try transaction.insert(
            rows.map { ModelTag(row: $0) }, onConflict: .replace)
          return [result.insertedCount, result.updatedCount, result.unchangedCount]
        })
    }
    tags = next
  }
}
