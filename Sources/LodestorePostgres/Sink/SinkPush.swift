#if Postgres
  internal import EntityStore
  internal import LodestoreBytes
  internal import LodestoreFormat

  /// One push of a sink; used by one thread within one snapshot of the store.
  final class SinkPush {
    let connection: PostgresConnection
    let plan: SinkPlan
    let facts: SinkFacts
    private var result = PostgresPush()

    init(connection: PostgresConnection, plan: SinkPlan, facts: SinkFacts) {
      self.connection = connection
      self.plan = plan
      self.facts = facts
    }

    /// Begins the transaction, in which no other push into the schema runs.
    ///
    /// The store's snapshot must be taken afterwards: a snapshot from before could lack writes that
    /// another process has pushed meanwhile.
    static func begin(_ connection: PostgresConnection, schema: String) throws(PostgresError) {
      try connection.run(
        "SET statement_timeout = 0; SET lock_timeout = 0; SET row_security = off; "
          + "SET idle_in_transaction_session_timeout = 0; BEGIN")
      // Two pushes into one schema wait for each other, also before the first one has left a row.
      try connection.run(
        "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", ["lodestore \(schema)"])
    }

    /// Creates missing tables.
    ///
    /// - Returns: the last write that the database has; `nil` when all records must be sent.
    func prepare(_ snapshot: borrowing Snapshot) throws -> UInt64? {
      try checkSchema()
      for command in plan.creation(besides: try columnTypes().keys) { try connection.run(command) }
      try check(try columnTypes())
      try checkStore()
      let rows = try connection.run(
        "SELECT last_write, entities, last_write_mark FROM \(plan.cursorLabel) WHERE store = "
          + "$1::uuid", [facts.storeID])
      guard let row = rows.first, row.count == 3, let number = row[0].flatMap({ UInt64($0) }) else {
        return nil
      }
      try check(number, mark: row[2].flatMap { Int64($0) }, in: snapshot)
      if plan.entities.contains(where: { $0.entity.description.history == nil }) { return nil }
      return row[1] == plan.signature ? number : nil
    }

    func commit() throws -> PostgresPush {
      result.lastWrite = facts.lastWrite
      try connection.run(
        "INSERT INTO \(plan.cursorLabel) (store, last_write, last_write_mark, entities) VALUES "
          + "($1::uuid, $2::bigint, $3::bigint, $4) ON CONFLICT (store) DO UPDATE SET last_write = "
          + "EXCLUDED.last_write, last_write_mark = EXCLUDED.last_write_mark, entities = "
          + "EXCLUDED.entities, pushed_at = now()",
        [facts.storeID, "\(facts.lastWrite)", facts.mark.map { "\($0)" }, plan.signature])
      try connection.run("COMMIT")
      return result
    }

    // MARK: Changes

    /// Sends the net changes after a write; returns false when the history does not have them all.
    func send(_ snapshot: borrowing Snapshot, after start: UInt64) throws -> Bool {
      let before = result
      for table in plan.tables { try connection.run(table.createStage) }
      try connection.run("SAVEPOINT changes")
      var request = ReplayRequest(after: start)
      request.isNet = true
      request.byteLimit = plan.sink.partSizeInBytes
      request.entities = plan.sink.entities
      // Buckets are not sent. With the digests of this state, none of them is read.
      request.digests = try snapshot.replayFacts().digests
      do {
        do {
          try snapshot.checkReplayable(entities: request.entities)
        } catch ReplayError.leftOutRelationships { request.entities = nil }
        _ = try snapshot.forEachReplayStep(request) { try send($0) }
        return true
      } catch let error as ReplayError {
        switch error {
        case .expired, .unrecorded: break
        default: throw error
        }
      }
      try connection.run("ROLLBACK TO SAVEPOINT changes")
      result = before
      return false
    }

    private func send(_ step: ReplayStep) throws {
      // The table of a restarted entity gets all records again.
      for (entity, table) in plan.entities
      where step.replacedEntities.contains(entity.description.number) {
        try connection.run("DELETE FROM \(table.label)")
      }
      for (links, table) in plan.links where step.replacedRelationships.contains(links.number) {
        try connection.run("DELETE FROM \(table.label)")
      }
      for (links, table) in plan.links {
        for group in step.links where group.relationship == links.number && group.kind == .removed {
          result.removedLinks += group.pairs.count
          try delete(group.pairs.map { [$0.from, $0.to] }, from: table)
        }
      }
      for (entity, table) in plan.entities {
        let number = entity.description.number
        for deleted in step.deleted where deleted.entity == number {
          let ids = Array(deleted.ids)
          result.deletedRecords += ids.count
          try delete(ids.map { [$0] }, from: table)
        }
        for records in step.records where records.entity == number {
          try copy(into: table.stage, table) { row in
            for (index, id) in records.ids.enumerated() {
              try records.bytes._withBytes { bytes in
                try row(
                  plan.snapshot.record(id, bytes: bytes[records.range(at: index)], of: entity))
              }
            }
          }
          try merge(table)
        }
      }
      for (links, table) in plan.links {
        for group in step.links where group.relationship == links.number && group.kind == .added {
          result.addedLinks += group.pairs.count
          try stageKeys(group.pairs.map { [$0.from, $0.to] }, table)
          try merge(table)
        }
      }
    }

    // MARK: All records

    /// Sends all records and links, and deletes all other rows of the tables.
    func sendAll() throws {
      result = PostgresPush(isWhole: true)
      // The rows are gone, so that the others need no temporary table.
      for (entity, table) in plan.entities {
        try connection.run("DELETE FROM \(table.label)")
        try copy(into: table.label, table) { row in
          try plan.snapshot.forEachRecord(of: entity) { record in
            try row(record)
            return true
          }
        }
      }
      for (links, table) in plan.links {
        try connection.run("DELETE FROM \(table.label)")
        try connection.copyIn(table.copy(into: table.label, onlyKey: true)) { send in
          var rows = KeyRows(send, limit: plan.sink.partSizeInBytes)
          try plan.snapshot.forEachLink(of: links) { from, to in
            result.addedLinks += 1
            try rows.append([from, to])
          }
          try rows.finish()
        }
      }
    }

    // MARK: Rows

    private func merge(_ table: SinkTable) throws {
      try connection.run(table.merge)
      try connection.run(table.clearStage)
    }

    private func delete(_ keys: [[UInt64]], from table: SinkTable) throws {
      try stageKeys(keys, table)
      try connection.run(table.deleteStaged)
      try connection.run(table.clearStage)
    }

    private func stageKeys(_ keys: [[UInt64]], _ table: SinkTable) throws {
      try connection.copyIn(table.copy(into: table.stage, onlyKey: true)) { send in
        var rows = KeyRows(send, limit: plan.sink.partSizeInBytes)
        for key in keys { try rows.append(key) }
        try rows.finish()
      }
    }

    /// Copies records into a table with the columns of an entity's table.
    private func copy(
      into target: String, _ table: SinkTable,
      _ body: (_ row: (DynamicRecord) throws -> Void) throws -> Void
    ) throws {
      try connection.copyIn(table.copy(into: target, onlyKey: false)) { send in
        var encoder = BinaryCopyEncoder()
        try body { record in
          try self.append(record, table, to: &encoder)
          self.result.sentRecords += 1
          if encoder.bytes.count >= self.plan.sink.partSizeInBytes { try send(encoder.take()) }
        }
        encoder.finish()
        try send(encoder.take())
      }
    }

    private func append(
      _ record: DynamicRecord, _ table: SinkTable, to encoder: inout BinaryCopyEncoder
    ) throws {
      let reader = try record.reader()
      encoder.beginRow(columnCount: table.columns.count)
      encoder.append { $0.appendBigEndian(record.id) }
      for (attribute, column) in zip(table.attributes, table.columns.dropFirst()) {
        let value = try PostgresValue(try reader.value(of: attribute), for: column.type)
        if value == .null {
          encoder.appendNull()
          continue
        }
        do throws(ValueRefusal) {
          try encoder.append { (bytes) throws(ValueRefusal) in
            try column.type.append(value, to: &bytes)
          }
        } catch {
          throw PostgresError(
            .unsupportedValue,
            "'\(attribute.name)' of '\(table.name)' \(record.id) \(error.reason)",
            table: table.name, column: column.name)
        }
      }
    }
  }

  /// Rows of ids, which are sent in parts.
  private struct KeyRows {
    private var encoder = BinaryCopyEncoder()
    private let send: ([UInt8]) throws -> Void
    private let limit: Int

    init(_ send: @escaping ([UInt8]) throws -> Void, limit: Int) {
      self.send = send
      self.limit = limit
    }

    mutating func append(_ ids: [UInt64]) throws {
      encoder.beginRow(columnCount: ids.count)
      for id in ids { encoder.append { $0.appendBigEndian(id) } }
      if encoder.bytes.count >= limit { try send(encoder.take()) }
    }

    mutating func finish() throws {
      encoder.finish()
      try send(encoder.take())
    }
  }
#endif
