#if Postgres
  internal import EntityStore
  internal import LodestoreEssentials
  import LodestoreSystem

  /// The work of a source; used by one thread.
  final class SourceWork {
    let source: PostgresSource
    let store: Store
    let interruption: PostgresInterruption
    let state: StatusBox
    private var copiesAgain: Bool
    /// Whether the server has accepted a connection of this work.
    private var hasConnected = false

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
        let before = state.value
        do {
          try attempt()
        } catch let error as PostgresError where leadsToCopy(error) {
          copiesAgain = true
          state.change { $0.repeatedCopies.append(error.message) }
        } catch let error as PostgresError where leadsToAttempt(error) {
          let now = state.value
          if now.position != before.position || now.copiedRows != before.copiedRows {
            wait = source.options.firstWait
          }
          if error.code == .accessDenied { wait = source.options.longestWait }
          let duration = wait
          state.change {
            $0.phase = .waiting(for: duration, error)
            $0.lastFailure = error
          }
          try sleep(duration)
          wait = min(wait * 2, source.options.longestWait)
        }
      }
    }

    /// Returns whether another connection may succeed.
    ///
    /// A wrong password ends a work that never had a connection. Later the password may be changed
    /// on the server first, and then in the file that libpq reads it from.
    private func leadsToAttempt(_ error: PostgresError) -> Bool {
      error.isTransient || error.code == .accessDenied && hasConnected
    }

    private func leadsToCopy(_ error: PostgresError) -> Bool {
      switch error.code {
      case .slotLost: source.options.copiesAgainAfterLostLog
      // An error of a copy itself would lead to copies without an end.
      case .relationChanged: source.options.copiesAgainAfterAlteration && !copiesAgain
      default: false
      }
    }

    func sleep(_ duration: Duration) throws(PostgresError) {
      var left = duration / .seconds(1)
      while left > 0 {
        try interruption.check()
        usleep(useconds_t(min(left, 0.1) * 1_000_000))
        left -= 0.1
      }
    }

    /// Connects, copies if necessary, and follows until the connection ends.
    private func attempt() throws {
      try preparedStream().run()
    }

    /// Connects and copies if necessary; only the connection for the changes stays open.
    private func preparedStream() throws -> ChangeStream {
      state.change { $0.phase = .connecting }
      let queries = try PostgresConnection(source.connection, interruption: interruption)
      let found = try SourceCursor.read(source.slot, in: store)
      let copies = copiesAgain || found?.isCopied != true
      let setup = SourceSetup(connection: queries, source: source)
      if copies { try setup.prepare(creates: true) }
      let replication = try PostgresConnection(
        source.connection, .replication, interruption: interruption)
      hasConnected = true
      let server = try replication.identity()
      let database = try queries.run("SELECT current_database()").first?.first ?? nil
      var cursor = SourceCursor(
        server: server.system, database: database ?? "", slot: source.slot,
        position: LogPosition(0), isCopied: false, time: nil, entities: found?.entities ?? [],
        tables: [:])
      if let found, !copiesAgain { try check(found, cursor, queries, end: server.end) }
      if !copies { try setup.prepare(creates: false) }
      var plans = try TableCatalogue(connection: queries, source: source).plans(extends: copies)
      cursor.note(plans)
      if let found, !copies {
        try found.check(cursor, publication: source.publication)
        cursor = found
      }
      let mapping = TableMapping(store: store)
      if copies {
        for plan in plans { try mapping.declare(plan, &cursor.entities) }
      }
      plans = try plans.map { try mapping.mapped($0) }
      if copies {
        let copy = TableCopy(work: self, plans: plans, queries: queries, replication: replication)
        try copy.run(&cursor, ownsSlot: found != nil || copiesAgain)
        copiesAgain = false
      }
      return ChangeStream(work: self, plans: plans, connection: replication, cursor: cursor)
    }

    /// Compares the server's tables and publication with the copy, over a connection of its own.
    ///
    /// - Returns: the difference, with a position of the log after it; `nil` for no difference.
    func alteration(since copied: SourceCursor) throws -> (error: PostgresError, end: LogPosition)?
    {
      let queries = try PostgresConnection(source.connection, interruption: interruption)
      do {
        try SourceSetup(connection: queries, source: source).prepare(creates: false)
        // A program that holds a lock on a table must not stop the changes of the others.
        try queries.run("SET lock_timeout = '1s'")
        var now = copied
        now.note(try TableCatalogue(connection: queries, source: source).plans(extends: false))
        try copied.check(now, publication: source.publication)
        return nil
      } catch let error as PostgresError where error.isAlteration {
        return (error, try queries.logEnd())
      }
    }

    /// Checks that the server still has all changes after the position of the store.
    private func check(
      _ found: SourceCursor, _ now: SourceCursor, _ queries: PostgresConnection, end: LogPosition
    ) throws(PostgresError) {
      guard found.server == now.server, found.database == now.database else {
        throw PostgresError(
          .otherServer,
          "the store follows another database than \(queries.label) by slot "
            + "'\(source.slot)'; connect to that one, or call copyAgain(into:)")
      }
      guard found.isCopied else { return }
      let rows = try queries.run(
        "SELECT wal_status, confirmed_flush_lsn, plugin FROM pg_replication_slots WHERE slot_name "
          + "= $1", [source.slot])
      guard let row = rows.first, row.count == 3 else {
        throw lost("is gone from \(queries.label)")
      }
      if row[0] == "lost" {
        throw lost("needs log that \(queries.label) has removed (max_slot_wal_keep_size)")
      }
      guard row[2] == "pgoutput" else {
        throw PostgresError(
          .slotInUse,
          "replication slot '\(source.slot)' at \(queries.label) has another plug-in than "
            + "pgoutput; choose another name")
      }
      // A server that was set back to an earlier state may reuse positions of its log.
      if found.position > end {
        throw lost(
          "ends at \(end), before the position \(found.position) of the store: "
            + "\(queries.label) was set back")
      }
      // A position is reported after its commit, so only another reader can have moved the slot.
      if let read = row[1].flatMap({ LogPosition($0) }), read > found.position {
        throw PostgresError(
          .slotInUse,
          "replication slot '\(source.slot)' was read up to \(read), and the store has the changes "
            + "up to \(found.position): another store uses the slot, or this one was restored from "
            + "a backup; give each store a slot of its own, or call copyAgain(into:)")
      }
    }

    private func lost(_ fact: String) -> PostgresError {
      PostgresError(
        .slotLost,
        "replication slot '\(source.slot)' \(fact); the tables must be copied again")
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

  extension PostgresError {
    /// Whether the error tells that tables or a publication are no longer those of the copy.
    fileprivate var isAlteration: Bool {
      switch code {
      case .relationChanged, .badSetup, .badMapping, .unsupportedType: true
      default: false
      }
    }
  }
#endif
