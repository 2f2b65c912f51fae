#if Postgres
  internal import EntityStore
  internal import LodestoreFormat

  /// Makes the changes of rows in one transaction of the store.
  struct RowWriter {
    let tables: [TableRows]
    let plans: [TablePlan]

    /// Makes the changes in their order; consecutive inserts of one table are one batch.
    func write(_ changes: [RowChange]) throws {
      var batch: (table: Int, rows: [[Value]])?
      for change in changes {
        if case .insert(let table, let row) = change {
          if batch?.table != table {
            try write(batch)
            batch = (table, [])
          }
          batch?.rows.append(row)
          continue
        }
        try write(batch)
        batch = nil
        switch change {
        case .insert: break
        case .update(let table, let key, let row): try update(table, key, row)
        case .delete(let table, let key): _ = try tables[table].delete(key: key)
        case .truncate(let truncated):
          for table in truncated { _ = try tables[table].deleteAll() }
        }
      }
      try write(batch)
    }

    private func write(_ batch: (table: Int, rows: [[Value]])?) throws {
      if let batch { _ = try tables[batch.table].upsert(batch.rows) }
    }

    private func update(_ table: Int, _ key: [Value], _ row: [Value?]) throws {
      if try tables[table].update(key: key, to: row) { return }
      let values = row.compactMap { $0 }
      guard values.count == row.count else {
        throw PostgresError(
          .badMapping,
          "the store lacks a record of \(plans[table].table.label) that the server "
            + "updated, and the server did not send all of its values; the program has deleted it. "
            + "Call copyAgain(into:)", table: plans[table].table.label)
      }
      _ = try tables[table].upsert([values])
    }
  }
#endif
