import Foundation

@testable import EntityStore

// Operations of several transactions: writes that share a commit, writes in chunks, and imports.

extension ModelRun {
  /// Runs a random operation, and checks the changes that sinks receive.
  mutating func runStep(on store: Store) async throws {
    let start = self
    recording?.forget()
    operations += 1
    switch numbers.below(6) {
    case 0: try await writeTogether(on: store)
    case 1: try await insertInChunks(on: store)
    case 2: try await changeInChunks(on: store)
    case 3: try await importRows(on: store, .upsert)
    case 4: try await importRows(on: store, .replaceMatching)
    default: try await importRows(on: store, .mirror)
    }
    try compareChanges(of: store, since: start)
  }

  /// Makes writes from several tasks at the same time, some of which throw.
  private mutating func writeTogether(on store: Store) async throws {
    let rows = (0..<2 + numbers.below(10)).map { _ in (row: freshRow(), throwing: numbers.oneIn(4))
    }
    // The deleted id is below all ids that the inserts can get, whichever comes first.
    let gone = numbers.oneIn(2) ? min(randomID(), model.nextID - 1) : 0
    let kept = try await withThrowingTaskGroup(of: (UInt64, ModelRow)?.self) { group in
      for (row, isThrowing) in rows {
        group.addTask {
          do {
            let id = try await store.write { transaction in
              let id = try transaction.insert(Item(row)).id
              if isThrowing {
                try transaction.delete(ModelTag.all)
                throw Abort()
              }
              return id.rawValue
            }
            return (id, row)
          } catch is Abort {
            return nil
          }
        }
      }
      group.addTask {
        try await store.write { transaction in
          _ = try transaction.delete(RecordID<Item>(rawValue: gone))
        }
        return nil
      }
      return try await group.reduce(into: [(UInt64, ModelRow)]()) { found, written in
        if let written { found.append(written) }
      }
    }
    _ = model.delete(gone)
    for (id, row) in kept.sorted(by: { $0.0 < $1.0 }) {
      try expectEqual("id of a write in a group", id, try model.insert(row))
    }
    try expectEqual("writes in a group", kept.count, rows.count { !$0.throwing })
  }

  private mutating func insertInChunks(on store: Store) async throws {
    let rows = (0..<numbers.below(60)).map { _ in freshRow() }
    let result = try await store.insert(
      rows.map { Item($0) }, inChunksOf: 1 + numbers.below(30), returning: .ids)
    let ids = try model.insert(contentsOf: rows)
    try expectEqual("insert in chunks", result.ids.map(\.rawValue), ids)
  }

  private mutating func changeInChunks(on store: Store) async throws {
    let range = randomNumbers()
    let query = Item.isNumbered(range)
    let size = 1 + numbers.below(10)
    if numbers.oneIn(2) {
      let note = randomRow().note
      let count = try await store.update(query, inChunksOf: size) {
        Item.update(.note(note), &$0)
      }
      let expected = try model.update(model.ids(numbered: range), .note(note))
      try expectEqual("update in chunks", count, expected)
    } else {
      let count = try await store.delete(query, inChunksOf: size)
      try expectEqual("delete in chunks", count, model.delete(model.ids(numbered: range)))
    }
  }

  // MARK: Imports

  /// Imports some stored rows, changed or unchanged, and some new rows.
  private mutating func importRows(on store: Store, _ strategy: ImportStrategy) async throws {
    var rows: [ModelRow] = []
    for id in model.rows.keys.sorted() where numbers.oneIn(strategy == .mirror ? 2 : 4) {
      guard var row = model.rows[id] else { continue }
      row.group = nil
      if numbers.oneIn(2) { row.note = randomRow().note }
      rows.append(row)
    }
    rows += (0..<numbers.below(20)).map { _ in freshRow() }
    let pages = try stride(from: 0, to: max(1, rows.count), by: 7).map { start in
      try JSONEncoder().encode(Array(rows[start..<min(rows.count, start + 7)]))
    }
    var options = ImportOptions()
    options.groupRecordLimit = 1 + numbers.below(40)
    let keepsStored = numbers.oneIn(4)
    let importer = Importer(
      into: store, Item.self, matching: .unique(\.row.key), strategy: strategy,
      onConflict: keepsStored ? .ignore : .replace, options: options)
    let source = AsyncStream { continuation in
      for page in pages { continuation.yield(page) }
      continuation.finish()
    }
    let report = try await importer.run(source, as: ModelRow.self) { Item($0) }
    try expectEqual("rejects of an import", report.rejected, 0)
    let counts = try take(
      rows, strategy, keepsStored: keepsStored && strategy != .replaceMatching,
      ids: try await ids(of: rows, in: store))
    let found = MergeCounts(
      inserted: report.inserted, updated: report.updated, unchanged: report.unchanged,
      ignored: report.ignored)
    try expectEqual("import", found, counts)
    guard strategy == .mirror else { return }
    let keys = Set(rows.map(\.key))
    let unseen = model.rows.filter { !keys.contains($0.value.key) }.keys
    try expectEqual("deleted by a mirror", report.deleted, model.delete(Array(unseen)))
  }

  /// The ids that the rows have in the store.
  private func ids(of rows: [ModelRow], in store: Store) async throws -> [UInt64] {
    let keys = rows.map(\.key)
    return try await store.read { snapshot in
      try snapshot.fetch(Item.byKey, keys: keys).map { $0?.id.rawValue ?? 0 }
    }
  }

  /// Applies an import of the rows, whose keys differ.
  private mutating func take(
    _ rows: [ModelRow], _ strategy: ImportStrategy, keepsStored: Bool, ids: [UInt64]
  ) throws -> MergeCounts {
    let incoming = rows.map { row in
      IncomingRow(seen(row) ?? row, hasExtra: Version.hasExtra)
    }
    guard strategy == .replaceMatching else {
      return try model.merge(incoming, keepsStored ? .ignore : .replace, ids: ids)
    }
    var counts = MergeCounts()
    var newIDs: [UInt64] = []
    let first = model.nextID
    for (row, id) in zip(incoming, ids) {
      if let holder = model.holder(of: .key(row.row.key)), let stored = model.rows[holder] {
        let merged = row.merged(with: stored, .replace)
        if merged == stored {
          try expectEqual("id of an unchanged record", id, holder)
          counts.unchanged += 1
          continue
        }
        _ = model.delete(holder)
        model.insert(merged, as: id)
        counts.updated += 1
      } else {
        model.insert(try row.new(), as: id)
        counts.inserted += 1
      }
      newIDs.append(id)
    }
    try expectEqual(
      "ids of an import", newIDs.sorted(), Array(first..<first + UInt64(newIDs.count)))
    return counts
  }
}
