#if Postgres
  public import EntityStore
  internal import LMDB
  internal import LodestoreFormat

  extension PostgresSink {
    /// The commands by which a push creates the tables and columns that the database lacks.
    ///
    /// The call changes nothing, and does not connect.
    public func plan(for store: Store) async throws -> [String] {
      let sink = self
      return try await runOnNewThread {
        try store.read { snapshot in
          try SinkPlan(sink, snapshot.dynamicSnapshot).creation(besides: [])
        }
      }
    }

    /// Sends the writes that the database does not have, in one transaction of the database.
    ///
    /// The next push continues rightly after an error. The push reads one `PinnedSnapshot` of the
    /// store, in which the file keeps its pages. `StoreOptions.snapshotAgeLimit` limits the time of
    /// a push, and `StoreOptions.onSnapshotWarning` reports a long one.
    ///
    /// - Throws: ``PostgresError``. The database is then as it was before the call. Only if the
    ///   connection was lost during the commit, the database may have all writes.
    @discardableResult
    public func push(_ store: Store) async throws -> PostgresPush {
      let sink = self
      let interruption = PostgresInterruption()
      return try await withTaskCancellationHandler {
        try await runOnNewThread {
          let connection = try PostgresConnection(sink.connection, interruption: interruption)
          try SinkPush.begin(connection, schema: sink.schema)
          let pinned = try store.snapshot()
          defer { pinned.end() }
          connection.reasonToStop = { Self.end(of: pinned) }
          return try pinned.read { snapshot in
            let plan = try SinkPlan(sink, snapshot.dynamicSnapshot)
            let facts = try SinkFacts(snapshot)
            let push = SinkPush(connection: connection, plan: plan, facts: facts)
            let start = try push.prepare(snapshot)
            if let start, start == facts.lastWrite { return try push.commit() }
            if let start, try push.send(snapshot, after: start) { return try push.commit() }
            try push.sendAll()
            return try push.commit()
          }
        }
      } onCancel: {
        interruption.request()
      }
    }

    /// The error of a push whose snapshot was ended; `nil` while the snapshot is open.
    private static func end(of snapshot: PinnedSnapshot) -> PostgresError? {
      do {
        _ = try snapshot.commitNumber
        return nil
      } catch {
        return PostgresError(
          .snapshotExpired,
          "the push was ended, and the database is as before: \(error). Raise snapshotAgeLimit, or "
            + "make the database faster, by fewer indexes for example", cause: error)
      }
    }

    /// Pushes now and then after each interval, until the task is cancelled.
    ///
    /// Connects again after a lost connection. A wrong password ends the call, unless a push has
    /// succeeded before.
    ///
    /// - Parameter onFailure: receives each error after which the call goes on.
    public func follow(
      _ store: Store, every interval: Duration = .seconds(1),
      onFailure: @escaping @Sendable (PostgresError) -> Void = { _ in },
      onPush: @escaping @Sendable (PostgresPush) -> Void = { _ in }
    ) async throws {
      let longest = Duration.seconds(30)
      var wait = Duration.milliseconds(500)
      var hasPushed = false
      while true {
        do {
          onPush(try await push(store))
          hasPushed = true
          wait = .milliseconds(500)
          try await Task.sleep(for: interval)
        } catch let error as PostgresError
          where error.isTransient || error.code == .accessDenied && hasPushed
        {
          onFailure(error)
          if error.code == .accessDenied { wait = longest }
          try await Task.sleep(for: wait)
          wait = min(wait * 2, longest)
        }
      }
    }
  }

  /// The tables of a sink for one schema of the store.
  struct SinkPlan {
    let sink: PostgresSink
    let snapshot: DynamicSnapshot
    let entities: [(entity: DynamicEntity, table: SinkTable)]
    let links: [(links: DynamicLinkTable, table: SinkTable)]

    init(_ sink: PostgresSink, _ snapshot: DynamicSnapshot) throws {
      self.sink = sink
      self.snapshot = snapshot
      let chosen = snapshot.entities.filter { sink.entities?.contains($0.name) ?? true }
      let unknown = sink.entities?.subtracting(chosen.map(\.name)).sorted().first
      if let unknown {
        throw PostgresError(
          .badMapping, "the store has no entity '\(unknown)'; check the sink's entities")
      }
      entities = try chosen.map { ($0, try SinkTable($0.description, schema: sink.schema)) }
      let names = Set(chosen.map(\.name))
      links = try snapshot.linkTables.filter { names.contains($0.from) && names.contains($0.to) }
        .map { ($0, try SinkTable($0, schema: sink.schema)) }
      let all = entities.map(\.table.name) + links.map(\.table.name)
      if let twice = all.first(where: { name in all.filter { $0 == name }.count > 1 }) {
        throw PostgresError(
          .badMapping,
          "two tables of the sink would have the name '\(twice)'; leave one of the "
            + "entities out", table: twice)
      }
    }

    var tables: [SinkTable] { entities.map(\.table) + links.map(\.table) }

    var cursorLabel: String { SQL.name(sink.schema, SinkTable.cursorName) }

    func creation(besides existing: some Collection<String>) -> [String] {
      [
        "CREATE TABLE IF NOT EXISTS \(cursorLabel) (store uuid PRIMARY KEY, last_write bigint NOT "
          + "NULL, last_write_mark bigint, entities text NOT NULL, pushed_at timestamptz NOT NULL "
          + "DEFAULT now())"
      ] + tables.flatMap { $0.creation(besides: existing) }
    }

    /// A text that differs when a push must send all records.
    var signature: String {
      tables.map { table in
        let columns = table.columns.map { "\($0.name) \($0.type.rawValue)" }
        return "\(table.name)(\(columns.joined(separator: ",")))"
      }.joined(separator: ";")
    }
  }
#endif
