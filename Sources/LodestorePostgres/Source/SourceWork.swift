#if Postgres
  internal import EntityStore
  internal import LodestoreBytes
  internal import LodestoreEssentials
  internal import LodestoreFormat
  import LodestoreSystem

  /// The work of a source; used by one thread.
  final class SourceWork {
    let source: PostgresSource
    let store: Store
    let interruption: PostgresInterruption
    let state: StatusBox
    private var copiesAgain: Bool

    init(
      _ source: PostgresSource, _ store: Store, _ interruption: PostgresInterruption,
      _ state: StatusBox, copiesAgain: Bool
    ) {
      self.source = source
      self.store = store
      self.interruption = interruption
      self.state = state
      self.copiesAgain = copiesAgain
    }

    /// Works until an interruption or an error that a new connection does not change.
    func run() throws {
      var wait = source.options.firstWait
      while true {
        let before = state.value.position
        do {
          try attempt()
        } catch let error as PostgresError where error.code == .slotLost {
          guard source.options.copiesAgainAfterLostLog else { throw error }
          copiesAgain = true
          state.change { $0.repeatedCopies.append(error.message) }
        } catch let error as PostgresError where error.isTransient {
          if state.value.position != before { wait = source.options.firstWait }
          let seconds = wait
          state.change { $0.phase = .waiting(seconds: seconds, error) }
          try sleep(seconds)
          wait = min(wait * 2, source.options.longestWait)
        }
      }
    }

    private func sleep(_ seconds: Double) throws(PostgresError) {
      var left = seconds
      while left > 0 {
        try interruption.check()
        usleep(useconds_t(min(left, 0.1) * 1_000_000))
        left -= 0.1
      }
    }

    /// Connects, copies if necessary, and follows until the connection ends.
    private func attempt() throws {
      state.change { $0.phase = .connecting }
      let queries = try PostgresConnection(source.connection, interruption: interruption)
      let catalogue = TableCatalogue(connection: queries, source: source)
      try catalogue.prepare()
      let plans = try catalogue.plans(store)
      let replication = try PostgresConnection(
        source.connection, .replication, interruption: interruption)
      let server = try replication.systemIdentifier()
      let database = try queries.run("SELECT current_database()").first?.first ?? nil
      let found = try cursor()
      var cursor = SourceCursor(
        server: server, database: database ?? "", slot: source.slot, position: LogPosition(0),
        isCopied: false, tables: [:])
      for plan in plans { cursor.tables[plan.table.label] = plan.signature }
      if let found, !copiesAgain {
        guard found.server == server, found.database == cursor.database else {
          throw PostgresError(
            .otherServer,
            "the store follows another database than \(queries.label) by slot "
              + "'\(source.slot)'; connect to that one, or call copyAgain(into:)")
        }
        if found.isCopied {
          guard found.tables == cursor.tables else { throw Self.altered(found, cursor) }
          cursor.position = found.position
          cursor.isCopied = true
        }
      }
      if cursor.isCopied {
        try checkSlot(queries)
      } else {
        let work = TableCopy(work: self, plans: plans, queries: queries, replication: replication)
        try work.run(&cursor, ownsSlot: found != nil || copiesAgain)
        copiesAgain = false
      }
      let stream = ChangeStream(work: self, plans: plans, connection: replication, cursor: cursor)
      try stream.run()
    }

    private static func altered(_ found: SourceCursor, _ now: SourceCursor) -> PostgresError {
      let table = now.tables.keys.sorted().first { now.tables[$0] != found.tables[$0] }
      let label = table ?? "the set of tables"
      return PostgresError(
        .relationChanged,
        "\(label) has other columns than when it was copied; call "
          + "copyAgain(into:)", table: table)
    }

    private func checkSlot(_ queries: PostgresConnection) throws(PostgresError) {
      let rows = try queries.run(
        "SELECT active, wal_status FROM pg_replication_slots WHERE slot_name = $1", [source.slot])
      guard let row = rows.first, row.count == 2 else {
        throw PostgresError(
          .slotLost,
          "replication slot '\(source.slot)' is gone from \(queries.label); the tables "
            + "must be copied again")
      }
      if row[1] == "lost" {
        throw PostgresError(
          .slotLost,
          "PostgreSQL \(queries.label) has removed log that slot '\(source.slot)' needs "
            + "(max_slot_wal_keep_size); the tables must be copied again")
      }
    }

    // MARK: The cursor

    func cursor() throws -> SourceCursor? {
      guard let data = try store.read({ try $0.replicationMark(for: source.slot) }) else {
        return nil
      }
      return try JSONDecoder().decode(SourceCursor.self, from: data)
    }

    /// Runs `body` in a write, and stores the cursor in its commit.
    func write(
      _ cursor: SourceCursor, _ context: String, _ body: (inout WriteTransaction) throws -> Void
    ) throws {
      let mark = try JSONEncoder().encode(cursor)
      try store.write(author: "postgres", contextName: context) { transaction in
        try body(&transaction)
        try transaction.putReplicationMark(mark, for: source.slot)
      }
    }
  }

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
        guard row.first != "t" else {
          throw PostgresError(
            .slotInUse,
            "another connection reads replication slot '\(slot)' at \(queries.label); "
              + "stop the other process")
        }
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

    private func copyAll(_ created: CreatedSlot, _ cursor: inout SourceCursor) throws {
      try queries.run(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET TRANSACTION SNAPSHOT "
          + SQL.text(created.snapshot))
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
      work.state.change { $0.position = created.position }
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
