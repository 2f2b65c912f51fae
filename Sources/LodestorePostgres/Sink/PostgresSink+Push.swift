#if Postgres
  public import EntityStore
  internal import LMDB
  internal import LodestoreFormat

  extension PostgresSink {
    /// The commands that the next push runs to create tables and columns; changes nothing.
    public func plan(for store: Store) async throws -> [String] {
      let sink = self
      return try await runOnNewThread {
        try store.read { snapshot in
          try SinkPlan(sink, snapshot.dynamicSnapshot).creation
        }
      }
    }

    /// Sends the writes that the database does not have, in one transaction of the database.
    ///
    /// The next push continues rightly after an error.
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
          return try store.read { snapshot in
            let plan = try SinkPlan(sink, snapshot.dynamicSnapshot)
            let facts = try snapshot.replayFacts()
            let push = SinkPush(connection: connection, plan: plan, facts: facts)
            let start = try push.begin()
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

    /// Pushes now and then after each interval, until the task is cancelled.
    ///
    /// Connects again after a lost connection.
    public func follow(
      _ store: Store, every interval: Duration = .seconds(1),
      onPush: @escaping @Sendable (PostgresPush) -> Void = { _ in }
    ) async throws {
      var wait = Duration.milliseconds(500)
      while true {
        do {
          onPush(try await push(store))
          wait = .milliseconds(500)
          try await Task.sleep(for: interval)
        } catch let error as PostgresError where error.isTransient {
          try await Task.sleep(for: wait)
          wait = min(wait * 2, .seconds(30))
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

    var creation: [String] {
      [
        "CREATE TABLE IF NOT EXISTS \(cursorLabel) (store uuid PRIMARY KEY, last_write bigint NOT "
          + "NULL, entities text NOT NULL, pushed_at timestamptz NOT NULL DEFAULT now())"
      ] + tables.flatMap(\.creation)
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
