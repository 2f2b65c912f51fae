#if Postgres
  internal import EntityStore
  internal import LodestoreBytes
  internal import LodestoreFormat
  import LodestoreSystem

  /// Receives transactions of the server and applies them; used by one thread.
  final class ChangeStream {
    private let work: SourceWork
    private let plans: [TablePlan]
    private let connection: PostgresConnection
    private var cursor: SourceCursor
    private var decoder: ChangeDecoder
    /// The changes of the transaction that is being received.
    private var open: [RowChange]?
    private var openBytes = 0
    /// The changes of whole transactions that are not in the store yet.
    private var whole: [RowChange] = []
    private var transactionCount = 0
    private var position: LogPosition
    private var lastStatus = 0
    private var mustReply = false
    /// The time of the last message of the server.
    private var lastMessage = ChangeStream.seconds
    private static let statusSeconds = 10
    /// The seconds of silence after which the connection counts as lost.
    ///
    /// The server is asked for a
    /// reply several times before.
    private static let silenceSeconds = 60

    /// The seconds of a clock that is never set.
    private static var seconds: Int {
      var now = timespec()
      clock_gettime(CLOCK_MONOTONIC, &now)
      return now.tv_sec
    }

    init(
      work: SourceWork, plans: [TablePlan], connection: PostgresConnection, cursor: SourceCursor
    ) {
      self.work = work
      self.plans = plans
      self.connection = connection
      self.cursor = cursor
      decoder = ChangeDecoder(plans)
      position = cursor.position
    }

    /// Follows until the connection ends, which throws.
    func run() throws {
      do {
        try connection.startReplication(
          slot: cursor.slot, publications: [work.source.publication], after: cursor.position)
      } catch { throw Self.explained(error, cursor.slot) }
      let position = position
      work.state.change {
        $0.phase = .following
        $0.position = position
      }
      while true {
        // Waiting transactions are applied as soon as no further message is available.
        let wait: Int32 = whole.isEmpty && !mustReply ? 1_000 : 0
        switch try connection.receive(milliseconds: wait, { try take($0) }) {
        case .message:
          lastMessage = Self.seconds
          if whole.count >= work.source.options.groupSize { try apply() }
        case .nothing: try apply()
        case .end:
          try connection.finish("START_REPLICATION")
          throw connection.lost("follow the changes")
        }
        try reportIfDue()
      }
    }

    private static func explained(_ error: PostgresError, _ slot: String) -> PostgresError {
      // Undefined object, object in use, and a slot whose log is gone.
      switch error.sqlState {
      case "42704":
        return PostgresError(
          .slotLost, "replication slot '\(slot)' is gone; the tables must be copied again",
          sqlState: error.sqlState, cause: error)
      case "55006":
        // The server may not have noticed yet that an earlier connection of this store is gone.
        return PostgresError(
          .connection,
          "another connection reads replication slot '\(slot)'; stop the other process",
          sqlState: error.sqlState, cause: error)
      case "55000":
        return PostgresError(
          .slotLost, "replication slot '\(slot)' cannot be read: \(error.message)",
          sqlState: error.sqlState, cause: error)
      default: return error
      }
    }

    // MARK: Messages

    private func take(_ bytes: ByteView) throws {
      switch try ReplicationMessage(bytes) {
      case .keepalive(let end, let asksForReply):
        work.state.change { $0.serverEnd = max($0.serverEnd ?? end, end) }
        mustReply = mustReply || asksForReply
        // All transactions before the position have arrived, and none of them is waiting.
        if open == nil, whole.isEmpty, end > position { advance(to: end) }
      case .data(_, let end, let payload):
        work.state.change { $0.serverEnd = max($0.serverEnd ?? end, end) }
        openBytes += payload.count
        try take(try LogicalMessage(payload))
      }
    }

    private func take(_ message: LogicalMessage) throws {
      switch message {
      case .begin:
        open = []
        openBytes = 0
      case .commit(_, let end, _):
        guard let changes = open else { throw Self.outOfOrder }
        open = nil
        // The server begins after the cursor; the comparison guards against one that does not.
        if end > position {
          whole += changes
          transactionCount += 1
          position = end
        }
      case .relation(let relation):
        // An altered table stops the source after the transactions before the alteration.
        do { try decoder.note(relation) } catch {
          try apply()
          throw error
        }
      case .origin, .type, .message: break
      case .insert, .update, .delete, .truncate:
        guard open != nil else { throw Self.outOfOrder }
        if let change = try decoder.change(message) { open?.append(change) }
        let limit = work.source.options.transactionSizeLimitInBytes
        guard openBytes <= limit else {
          throw PostgresError(
            .tooLarge,
            "a transaction of PostgreSQL has more than \(limit) bytes of changes; raise "
              + "transactionSizeLimitInBytes, or call copyAgain(into:)")
        }
      }
    }

    private static var outOfOrder: PostgresError {
      PostgresError(.malformed, "the server sent a change outside a transaction")
    }

    // MARK: Applying

    /// Commits the waiting transactions, with the position after them.
    private func apply() throws {
      guard transactionCount > 0 else { return }
      cursor.position = position
      // A transaction without a followed change only moves the position, which needs no commit.
      if !whole.isEmpty {
        let plans = plans
        let whole = whole
        try work.write(cursor, "\(position)") { transaction in
          var tables: [TableRows] = []
          for plan in plans {
            tables.append(
              try transaction.tableRows(
                of: plan.entity, attributes: plan.attributes, key: plan.keyAttributes))
          }
          try RowWriter(tables: tables, plans: plans).write(whole)
        }
      }
      let (transactions, changes, reached) = (transactionCount, whole.count, position)
      work.state.change {
        $0.appliedTransactions += transactions
        $0.appliedChanges += changes
        $0.position = reached
      }
      whole = []
      transactionCount = 0
    }

    private func advance(to end: LogPosition) {
      position = end
      work.state.change { $0.position = end }
    }

    // MARK: Status

    /// Reports the position whose changes are durable.
    ///
    /// Each commit of a store is durable when it returns.
    private func reportIfDue() throws {
      let now = Self.seconds
      let silence = now - lastMessage
      guard silence < Self.silenceSeconds else {
        throw PostgresError(
          .connection, "PostgreSQL \(connection.label) has sent nothing for \(silence) seconds")
      }
      let isDue = mustReply || now - lastStatus >= Self.statusSeconds
      guard isDue, transactionCount == 0 else { return }
      var clock = timespec()
      clock_gettime(CLOCK_REALTIME, &clock)
      let microseconds = (Int64(clock.tv_sec) - 946_684_800) * 1_000_000
      try connection.sendStatus(
        received: position, durable: position, microseconds: microseconds,
        asksForReply: silence >= Self.statusSeconds)
      lastStatus = now
      mustReply = false
    }
  }

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
