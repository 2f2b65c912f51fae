#if Postgres
  internal import EntityStore

  /// The comparison of the database with the store, before a push changes rows.
  extension SinkPush {
    /// Throws when the write that the database has is not one of this store.
    func check(
      _ number: UInt64, mark: Int64?, in snapshot: borrowing Snapshot
    ) throws {
      var fact: String?
      if number > facts.lastWrite {
        fact = "whose last write is \(facts.lastWrite)"
      } else if let mark, let own = try SinkFacts.mark(of: number, in: snapshot), own != mark {
        fact = "and the store has another write with this number"
      }
      guard let fact else { return }
      throw PostgresError(
        .otherServer,
        "the database has write \(number) of the store, \(fact): the store was restored from an "
          + "older copy. Delete its row in \(plan.cursorLabel) to send all records again",
        table: SinkTable.cursorName)
    }

    /// Throws when the schema is missing, which a push does not create.
    func checkSchema() throws {
      let name = plan.sink.schema
      let rows = try connection.run(
        "SELECT 1 FROM information_schema.schemata WHERE schema_name = $1 UNION "
          + "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1", [name])
      guard rows.isEmpty else { return }
      throw PostgresError(
        .badSetup,
        "\(connection.label) has no schema \(SQL.name(name)); create it by 'CREATE SCHEMA "
          + "\(SQL.name(name))', as a role that may create schemas, or name another one")
    }

    /// Throws when the schema receives another store, whose rows a push of all records would
    /// delete.
    func checkStore() throws {
      let rows = try connection.run(
        "SELECT store FROM \(plan.cursorLabel) WHERE store <> $1::uuid", [facts.storeID])
      guard let other = rows.first?.first, let other else { return }
      throw PostgresError(
        .otherServer,
        "the schema \(SQL.name(plan.sink.schema)) of \(connection.label) receives the store "
          + "\(other), and this is the store \(facts.storeID). A store that was taken over or "
          + "restored from a replica has a UUID of its own. Push into another schema, or delete "
          + "the row in \(plan.cursorLabel) to replace the rows", table: SinkTable.cursorName)
    }

    /// Returns the types of the columns in the schema.
    func columnTypes() throws -> [String: String] {
      let rows = try connection.run(
        "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE "
          + "table_schema = $1", [plan.sink.schema])
      var types: [String: String] = [:]
      for row in rows where row.count == 3 {
        types["\(row[0] ?? "").\(row[1] ?? "")"] = row[2]
      }
      return types
    }

    /// Throws when a column of an older table has another type.
    func check(_ types: [String: String]) throws {
      for table in plan.tables {
        for column in table.columns {
          let expected =
            column.type == .timestamptz ? "timestamp with time zone" : column.type.rawValue
          let found = types[table.path(of: column)]
          guard found != expected else { continue }
          throw PostgresError(
            .badMapping,
            "\(table.label).\(SQL.name(column.name)) is \(found ?? "absent") in the "
              + "database, and its attribute needs \(expected); alter or rename the column",
            table: table.name, column: column.name)
        }
      }
    }
  }
#endif
