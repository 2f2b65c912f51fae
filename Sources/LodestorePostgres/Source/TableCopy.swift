#if Postgres
  internal import EntityStore
  internal import LodestoreFormat

  /// Copies all tables in one snapshot of the server.
  struct TableCopy {
    let work: SourceWork
    let plans: [TablePlan]
    let queries: PostgresConnection
    let replication: PostgresConnection

    /// Creates the slot and copies the tables; the cursor is then at the slot's position.
    func run(_ cursor: inout SourceCursor, ownsSlot: Bool) throws {
      let slot = work.source.slot
      let existing = try queries.run(
        "SELECT active FROM pg_replication_slots WHERE slot_name = $1", [slot])
      if let row = existing.first {
        guard ownsSlot else {
          throw PostgresError(
            .slotInUse,
            "replication slot '\(slot)' exists at \(queries.label), and this store has "
              + "no position in it; choose another name, or drop it: SELECT "
              + "pg_drop_replication_slot(\(SQL.text(slot)))")
        }
        try waitUntilUnused(slot, isActive: row.first == "t")
        try replication.run("DROP_REPLICATION_SLOT \(SQL.name(slot))")
      }
      // The mark before the slot is created shows after a crash that the slot is this store's.
      cursor.isCopied = false
      try work.write(cursor, "copy") { _ in }
      let created = try replication.createSlot(slot)
      do {
        try copyAll(created, &cursor)
      } catch {
        // The server would keep log for a slot that nobody will read.
        _ = try? replication.run("DROP_REPLICATION_SLOT \(SQL.name(slot))")
        throw error
      }
    }

    /// Waits for a connection of an earlier follower, which the server may not have ended yet.
    private func waitUntilUnused(_ slot: String, isActive: Bool) throws {
      var isActive = isActive
      for _ in 0..<50 where isActive {
        try work.sleep(.milliseconds(100))
        let rows = try queries.run(
          "SELECT active FROM pg_replication_slots WHERE slot_name = $1", [slot])
        isActive = rows.first?.first == "t"
      }
      if isActive {
        throw PostgresError(
          .slotInUse,
          "another connection reads replication slot '\(slot)' at \(queries.label); stop the other "
            + "process")
      }
    }

    private func copyAll(_ created: CreatedSlot, _ cursor: inout SourceCursor) throws {
      try queries.run(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT "
          + SQL.text(created.snapshot))
      let time = try queries.run(
        "SELECT extract(epoch FROM now() - timestamptz '2001-01-01 00:00:00Z')::float8")
      cursor.time = (time.first?.first ?? nil).flatMap { Double($0) }
      let estimates = plans.compactMap(\.estimatedRows)
      work.state.change {
        $0.estimatedRows = estimates.count == plans.count ? estimates.reduce(0, +) : nil
      }
      var seen: [IDRuns] = []
      for plan in plans { seen.append(try copy(plan, cursor)) }
      try queries.run("COMMIT")
      cursor.isCopied = true
      cursor.position = created.position
      try work.write(cursor, "end of the copy") { transaction in
        for (plan, ids) in zip(plans, seen) {
          let rows = try transaction.tableRows(
            of: plan.entity, attributes: plan.attributes, key: plan.keyAttributes)
          _ = try rows.deleteAll(except: ids)
        }
      }
      let done = cursor
      work.state.change { $0.note(done) }
    }

    /// Copies one table in groups of rows; returns the ids of the records.
    private func copy(_ plan: TablePlan, _ cursor: SourceCursor) throws -> IDRuns {
      work.state.change { $0.phase = .copying(table: plan.table.label) }
      var seen = IDRuns()
      var group: [[Value]] = []
      let size = max(1, work.source.options.groupSize)
      group.reserveCapacity(size)
      var decoder = BinaryCopyDecoder(columnCount: plan.columns.count)
      try queries.copyOut(plan.copyCommand) { message in
        try decoder.take(message) { bytes, fields in
          var row: [Value] = []
          row.reserveCapacity(fields.count)
          for (position, field) in fields.enumerated() {
            row.append(try plan.value(field.map { bytes[$0] }, position))
          }
          group.append(row)
        }
        if group.count >= size {
          try write(group, plan, cursor, &seen)
          group.removeAll(keepingCapacity: true)
        }
      }
      try decoder.finish()
      try write(group, plan, cursor, &seen)
      seen.normalize()
      return seen
    }

    private func write(
      _ group: [[Value]], _ plan: TablePlan, _ cursor: SourceCursor, _ seen: inout IDRuns
    ) throws {
      if group.isEmpty { return }
      var ids: [UInt64] = []
      try work.write(cursor, "copy of \(plan.table.label)") { transaction in
        let rows = try transaction.tableRows(
          of: plan.entity, attributes: plan.attributes, key: plan.keyAttributes)
        ids = try rows.upsert(group)
      }
      for id in ids { seen.append(id) }
      work.state.change { $0.copiedRows += ids.count }
    }
  }
#endif
