#if Postgres
  public import EntityStore
  internal import LMDB
  import Synchronization

  extension PostgresSource {
    /// Copies the tables into `store` if that has no complete copy, and then follows the changes.
    ///
    /// The call returns when the follower has started. An error of the setup ends the follower; see
    /// ``PostgresFollower/finished()``.
    public func follow(into store: Store) -> PostgresFollower {
      PostgresFollower(self, store, copiesAgain: false)
    }

    /// Copies all tables again, and then follows the changes.
    ///
    /// Records keep their ids. Records whose rows are gone are deleted when the copy ends.
    public func copyAgain(into store: Store) -> PostgresFollower {
      PostgresFollower(self, store, copiesAgain: true)
    }
  }

  extension PostgresSource {
    /// Drops the replication slot, so that the server no longer keeps log for the store.
    ///
    /// The store keeps its records. Following it again begins with a copy.
    ///
    /// - Throws: ``PostgresError`` while a follower uses the slot.
    public func dropSlot() async throws {
      let source = self
      try await runOnNewThread {
        let connection = try PostgresConnection(
          source.connection, interruption: PostgresInterruption())
        try connection.run(
          "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots "
            + "WHERE slot_name = $1",
          [source.slot])
      }
    }
  }

  /// The work of a source in one process, on a thread of its own.
  public final class PostgresFollower: Sendable {
    private let source: PostgresSource
    private let task: Task<Void, any Error>
    private let interruption: PostgresInterruption
    private let state: StatusBox

    fileprivate init(_ source: PostgresSource, _ store: Store, copiesAgain: Bool) {
      let interruption = PostgresInterruption()
      let state = StatusBox()
      self.source = source
      self.interruption = interruption
      self.state = state
      task = Task {
        do {
          try await runOnNewThread {
            let work = SourceWork(source, store, interruption, state, copiesAgain: copiesAgain)
            try work.run()
          }
          state.change { $0.phase = .stopped(nil) }
        } catch {
          let isAsked = (error as? PostgresError)?.code == .cancelled
          state.change { $0.phase = .stopped(isAsked ? nil : error) }
          if !isAsked { throw error }
        }
      }
    }

    /// The state at this moment.
    public var status: PostgresStatus { state.value }

    /// Ends the work; all changes that the status reports are in the store.
    public func stop() async {
      interruption.request()
      _ = await task.result
    }

    /// Waits until the follower ends; throws the error that ended it.
    public func finished() async throws { try await task.value }

    /// Waits until all changes are in the store that the server has committed so far.
    ///
    /// The call asks the server for the end of its log, over a connection of its own.
    ///
    /// - Throws: ``PostgresError`` if the server cannot be asked; the error that ended the
    ///   follower.
    public func catchUp() async throws {
      let source = source
      let end = try await runOnNewThread {
        try PostgresConnection(source.connection, interruption: PostgresInterruption()).logEnd()
      }
      try await catchUp(to: end)
    }

    /// Waits until all changes are in the store up to a position of the server's log.
    ///
    /// - Parameter position: the end of the server's log, for example from
    ///   `SELECT pg_current_wal_lsn()`.
    public func catchUp(to position: LogPosition) async throws {
      while true {
        let status = status
        if let reached = status.position, reached >= position { return }
        if case .stopped(let error) = status.phase {
          throw error
            ?? PostgresError(.cancelled, "the source was stopped before it reached \(position)")
        }
        try await Task.sleep(for: .milliseconds(20))
      }
    }
  }

  extension PostgresConnection {
    /// The end of the server's log.
    func logEnd() throws(PostgresError) -> LogPosition {
      let rows = try run(
        "SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE "
          + "pg_current_wal_lsn() END")
      guard let end = (rows.first?.first ?? nil).flatMap({ LogPosition($0) }) else {
        throw PostgresError(
          .malformed, "\(label) has no position of its log; check that it is a PostgreSQL server")
      }
      return end
    }
  }

  /// The status, which the thread writes and the program reads.
  final class StatusBox: Sendable {
    private let status = Mutex(PostgresStatus())

    var value: PostgresStatus { status.withLock { $0 } }

    func change(_ body: (inout PostgresStatus) -> Void) { status.withLock { body(&$0) } }
  }
#endif
