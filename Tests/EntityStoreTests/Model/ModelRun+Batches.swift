@testable import EntityStore

// Batch inserts with every merge policy.

extension ModelRun {
  mutating func insertMany(_ transaction: inout WriteTransaction) throws {
    let isFresh = numbers.oneIn(2)
    let count = numbers.below(numbers.oneIn(30) ? 300 : 10)
    let rows = (0..<count).map { _ in isFresh || numbers.oneIn(8) ? freshRow() : randomRow() }
    switch ModelConflict.allCases[numbers.below(ModelConflict.allCases.count)] {
    case .fail: try insert(rows, &transaction)
    case .given: try insertParts(rows, &transaction)
    case let conflict:
      let matching = randomMatching()
      try merge(rows, conflict, by: matching, &transaction)
    }
  }

  /// Inserts all rows or none.
  ///
  /// After a refusal the transaction continues.
  mutating func insert(_ rows: [ModelRow], _ transaction: inout WriteTransaction) throws {
    var next = model
    let isDone: Bool
    switch numbers.below(3) {
    case 0:
      isDone = try agree(
        "insert many", { try next.insert(contentsOf: rows) },
        { try transaction.insert(rows.map { Item($0) }).ids.map(\.rawValue) })
    case 1:
      isDone = try agree(
        "insert many of a sequence", { try next.insert(contentsOf: rows).count },
        {
          try transaction.insert(rows.lazy.map { Item($0) }, returning: .counts)
            .insertedCount
        })
    default:
      let incoming = rows.map { IncomingRow($0, hasExtra: Version.hasExtra) }
      isDone = try agree(
        "insert many drafts", { try next.insert(contentsOf: rows) },
        {
          try transaction.insert(Item.self, dictionaries: incoming.map(\.dictionary))
            .ids.map(\.rawValue)
        })
    }
    if isDone { model = next }
  }

  mutating func merge(
    _ rows: [ModelRow], _ conflict: ModelConflict, by matching: ModelMatching,
    _ transaction: inout WriteTransaction
  ) throws {
    let incoming = rows.map { IncomingRow($0, hasExtra: Version.hasExtra) }
    let mode = conflict.conflict(Version.self)
    try check(incoming, conflict, matching) {
      try transaction.insert(
        rows.map { Item($0) }, onConflict: mode, matching: matching.matching(Version.self))
    }
  }

  /// Inserts rows that give only some of their values.
  private mutating func insertParts(
    _ rows: [ModelRow], _ transaction: inout WriteTransaction
  ) throws {
    let incoming = rows.map { row in
      var given: Set<String> = ["key"]
      if numbers.oneIn(2) { given.insert("note") }
      if numbers.oneIn(2) { given.insert("extra") }
      // A new row needs a number. Few new rows lack a number, so that the store accepts most
      // batches.
      let isNew = model.holder(of: .key(row.key)) == nil
      if !numbers.oneIn(isNew ? 40 : 4) { given.insert("number") }
      if !numbers.oneIn(4) { given.insert("group") }
      return IncomingRow(row, given: given, hasExtra: Version.hasExtra)
    }
    let matching = randomMatching()
    try check(incoming, .given, matching) {
      try transaction.insert(
        Item.self, dictionaries: incoming.map(\.dictionary), onConflict: .patch(),
        matching: matching.matching(Version.self))
    }
  }

  /// Compares the result of a batch with the model.
  ///
  /// After a refused row the transaction is ended, because other rows of the batch may be stored.
  private mutating func check(
    _ incoming: [IncomingRow], _ conflict: ModelConflict, _ matching: ModelMatching,
    _ insert: () throws -> InsertResult<Item>
  ) throws {
    var next = model
    let result: InsertResult<Item>
    do {
      result = try insert()
    } catch let error as StoreError {
      let wanted = Result { try next.merge(incoming, conflict, by: matching) }
      try checkRefusal("merge \(conflict)", wanted, error)
      throw Abort()
    }
    let wanted = Result {
      try next.merge(incoming, conflict, by: matching, ids: result.ids.map(\.rawValue))
    }
    let found = MergeCounts(
      inserted: result.insertedCount, updated: result.updatedCount,
      unchanged: result.unchangedCount, ignored: result.ignoredCount)
    switch wanted {
    case .success(let counts): try expectEqual("merge \(conflict)", found, counts)
    case .failure(let error):
      throw Disagreement("merge \(conflict): gives \(found), the model \(error)")
    }
    model = next
  }

  /// Makes every batch change on many records, and deletes them at the end.
  ///
  /// The number exceeds the sizes of a block and a chunk, and makes the store use two threads.
  mutating func runLargeTransaction(on store: Store, count: Int) throws {
    try transact(on: store) { (run, transaction) throws in
      run.operations += 1
      var rows = (0..<count).map { _ in run.freshRow() }
      for index in rows.indices { rows[index].number = 1_000 + index }
      try run.insert(rows, &transaction)
      var changed = Array(rows.prefix(count / 8))
      for index in changed.indices { changed[index].note = "changed \(index % 7)" }
      try run.merge(
        changed + (0..<500).map { _ in run.freshRow() }, .replace, by: .key, &transaction)
      try run.update(1_000...(1_000 + count / 3), .numberPlus(-500), &transaction)
      try run.update(500...(1_000 + count), .note("all"), &transaction)
      let ids = run.model.ids(numbered: 500...1_000_000)
      let keptCount = run.numbers.below(10)
      var next = run.model
      try run.agree(
        "delete \(count)", { next.delete(ids.dropFirst(keptCount)) },
        {
          try transaction.delete(ids.dropFirst(keptCount).map { RecordID<Item>(rawValue: $0) })
        })
      run.model = next
    }
  }
}
