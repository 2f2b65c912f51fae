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
    /// The position after the last received transaction.
    private var position: LogPosition
    /// The time of the last received commit, in seconds since 2001.
    private var time: Double?
    private var lastStatus = 0
    private var mustReply = false
    /// The time of the last message of the server.
    private var lastMessage = ChangeStream.seconds
    private var lastComparison = ChangeStream.seconds
    /// A difference of the server's tables from the copy, with a position of the log after it.
    private var alteration: (error: PostgresError, end: LogPosition)?
    private static let statusSeconds = 10
    /// The seconds of silence after which the connection counts as lost.
    ///
    /// The server is asked for a reply several times before.
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
      time = cursor.time
    }

    /// Follows until the connection ends, which throws.
    func run() throws {
      do {
        try connection.startReplication(
          slot: cursor.slot, publications: [work.source.publication], after: cursor.position)
      } catch { throw Self.explained(error, cursor.slot) }
      let start = cursor
      work.state.change {
        $0.phase = .following
        $0.lastFailure = nil
        $0.note(start)
      }
      while true {
        switch try receive() {
        case .message:
          lastMessage = Self.seconds
          if whole.count >= work.source.options.groupSize { try apply() }
        case .nothing: try apply()
        case .end:
          try connection.finish("START_REPLICATION")
          throw connection.lost("follow the changes")
        }
        try reportIfDue()
        try compareIfDue()
      }
    }

    /// Receives a message; before an error the store gets all whole transactions.
    private func receive() throws -> PostgresConnection.Received {
      // Waiting transactions are applied as soon as no further message is available.
      let wait: Int32 = transactionCount == 0 && !mustReply ? 1_000 : 0
      do {
        return try connection.receive(milliseconds: wait) { try take($0) }
      } catch {
        try apply()
        throw error
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
        if open == nil, transactionCount == 0, end > position {
          position = end
          work.state.change { $0.position = end }
        }
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
      case .commit(_, let end, let microseconds):
        guard let changes = open else { throw Self.outOfOrder }
        open = nil
        // The server begins after the cursor; the comparison guards against one that does not.
        if end > position {
          whole += changes
          transactionCount += 1
          position = end
          // The server counts from 2000, and the store from 2001.
          time = Double(microseconds) / 1_000_000 - 366 * 86_400
        }
      case .relation(let relation): try decoder.note(relation)
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
      // A transaction without a followed change only moves the position, which needs no commit.
      if !whole.isEmpty {
        let plans = plans
        let whole = whole
        try commit("\(position)") { transaction in
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
      let time = time
      work.state.change {
        $0.appliedTransactions += transactions
        $0.appliedChanges += changes
        $0.position = reached
        $0.note(time: time)
      }
      whole = []
      transactionCount = 0
    }

    private func commit(
      _ context: String, _ body: (inout WriteTransaction) throws -> Void
    ) throws {
      var next = cursor
      next.position = position
      next.time = time
      try work.write(next, context, body)
      cursor = next
    }

    // MARK: Alterations

    /// Stops after the changes before an alteration that the server does not send.
    private func compareIfDue() throws {
      if let alteration {
        guard position >= alteration.end else { return }
        try apply()
        throw alteration.error
      }
      let now = Self.seconds
      let interval = work.source.options.catalogueInterval / .seconds(1)
      guard Double(now - lastComparison) >= interval else { return }
      lastComparison = now
      do {
        alteration = try work.alteration(since: cursor)
      } catch let error as PostgresError where error.code != .cancelled {
        // The changes go on without the comparison, which is made again at the next interval.
        work.state.change { $0.lastFailure = error }
      }
    }

    // MARK: Status

    /// Reports the position whose changes are durable.
    ///
    /// Each commit of a store is durable when it returns. A position is committed before the server
    /// gets it: a server that has a later position than the store was read by another store.
    private func reportIfDue() throws {
      let now = Self.seconds
      let silence = now - lastMessage
      guard silence < Self.silenceSeconds else {
        throw PostgresError(
          .connection, "PostgreSQL \(connection.label) has sent nothing for \(silence) seconds")
      }
      guard mustReply || now - lastStatus >= Self.statusSeconds else { return }
      try apply()
      if position > cursor.position { try commit("\(position)") { _ in } }
      var clock = timespec()
      clock_gettime(CLOCK_REALTIME, &clock)
      let microseconds = (Int64(clock.tv_sec) - 946_684_800) * 1_000_000
      try connection.sendStatus(
        received: position, durable: cursor.position, microseconds: microseconds,
        asksForReply: silence >= Self.statusSeconds)
      lastStatus = now
      mustReply = false
    }
  }
#endif
