@testable import EntityStore

// Changes of one record.

extension ModelRun {
  mutating func insertOne(_ transaction: inout WriteTransaction) throws {
    let row = randomRow()
    let conflict = ModelConflict.allCases[numbers.below(ModelConflict.allCases.count)]
    let matching = conflict == .fail ? ModelMatching.all : randomMatching()
    var next = model
    let isDone = try agree(
      "insert \(conflict)",
      {
        let incoming = IncomingRow(row, hasExtra: Version.hasExtra)
        let held = try incoming.keys(matching).lazy.compactMap { next.holder(of: $0) }.first
        let new = next.nextID
        _ = try next.merge([incoming], conflict, by: matching)
        return held ?? new
      },
      {
        try transaction.insert(
          Item(row), onConflict: conflict.conflict(Version.self),
          matching: matching.matching(Version.self)
        ).id.rawValue
      })
    if isDone { model = next }
  }

  mutating func update(_ transaction: inout WriteTransaction) throws {
    let id = randomID()
    var row = numbers.oneIn(4) ? seen(model.rows[id]) ?? randomRow() : randomRow()
    var item = Item(row)
    item.id = RecordID(rawValue: id)
    // Attributes that the version does not declare keep their values.
    if !Version.hasExtra, let stored = model.rows[id] { row.extra = stored.extra }
    var next = model
    let isDone = try agree(
      "update \(id)", { try next.update(id, row) }, { try transaction.update(item) })
    if isDone { model = next }
  }

  mutating func deleteSome(_ transaction: inout WriteTransaction) throws {
    var next = model
    if numbers.oneIn(10) {
      let ids = (0..<numbers.below(numbers.oneIn(5) ? 100 : 8)).map { _ in randomID() }
      try agree(
        "delete many", { next.delete(ids) },
        { try transaction.delete(ids.map { RecordID<Item>(rawValue: $0) }) })
    } else {
      // A quarter of the deletes are of the newest record, whose id must not be used again.
      let id = numbers.oneIn(4) ? model.nextID - 1 : randomID()
      try agree(
        "delete \(id)", { next.delete(id) },
        { try transaction.delete(RecordID<Item>(rawValue: id)) })
    }
    model = next
  }
}
