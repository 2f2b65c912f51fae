#if Postgres
  internal import EntityStore
  internal import LodestoreFormat

  /// Reads the tables, keys and publication of a database, and checks that they can be followed.
  struct TableCatalogue {
    let connection: PostgresConnection
    let source: PostgresSource

    /// Reads the tables, before they are compared with the entities of a store.
    ///
    /// - Parameter extends: whether a missing table is added to the publication.
    func plans(extends: Bool) throws -> [TablePlan] {
      var tables: [String: PostgresTable] = [:]
      for table in source.tables {
        if let other = tables.updateValue(table, forKey: table.entity ?? table.name) {
          throw refusal(
            .badMapping, table,
            "has the same entity as \(other.label); a copy of one table would delete the records "
              + "of the other, so give it an entity of its own")
        }
        let entity = table.entity ?? table.name
        guard EntityDescription.isValidName(entity) else {
          throw badName(entity, of: "an entity", table, "PostgresTable.entity")
        }
      }
      let types = try PostgresTypes(rows: connection.run(PostgresTypes.command))
      return try source.tables.map { try plan($0, types, extends: extends) }
    }

    private func plan(
      _ table: PostgresTable, _ types: PostgresTypes, extends: Bool
    ) throws -> TablePlan {
      let found = try connection.run(
        "SELECT c.oid, c.relkind, c.relreplident, c.reltuples::bigint FROM pg_class c JOIN "
          + "pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2 AND "
          + "c.relkind IN ('r', 'p')", [table.schema, table.name])
      guard let row = found.first, row.count == 4, let text = row[0], let id = UInt32(text),
        let identity = row[2]
      else {
        throw refusal(
          .badSetup, table, "is no table of \(connection.label); check its name and its schema")
      }
      var plan = TablePlan(
        table: table, relation: id, entity: table.entity ?? table.name, columns: [], key: [],
        condition: nil, isPartitioned: row[1] == "p", infinity: source.options.infiniteDates)
      plan.estimatedRows = row[3].flatMap { Int($0) }.flatMap { $0 < 0 ? nil : $0 }
      let published = try publishedColumns(plan, extends: extends)
      plan.condition = published.condition
      plan.publicationEntry = try publicationEntry(text)
      let rows = try connection.run(
        "SELECT a.attname, a.atttypid, a.attnotnull, COALESCE(a.attnum = ANY(i.indkey::int2[]), "
          + "false) FROM pg_attribute a LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND "
          + (identity == "i" ? "i.indisreplident" : "i.indisprimary")
          + " WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped AND "
          + "a.attgenerated = '' AND ($2::text[] IS NULL OR a.attname::text = ANY($2::text[])) "
          + "ORDER BY a.attnum", [text, published.columns])
      for row in rows {
        guard row.count == 4, let name = row[0], let typeID = row[1].flatMap({ UInt32($0) }) else {
          continue
        }
        if table.ignored.contains(name) { continue }
        let attribute = table.attributes[name] ?? name
        guard EntityDescription.isValidAttributeName(attribute) else {
          throw badName(attribute, of: "an attribute", table, "PostgresTable.attributes")
        }
        if row[3] == "t" { plan.key.append(plan.columns.count) }
        let type = types.type(typeID)
        if case .unsupported(let typeName, let advice) = type {
          throw PostgresError(
            .unsupportedType,
            "\(table.label).\(name) has the type \(typeName), which a store does not have; "
              + advice, table: table.label, column: name)
        }
        plan.columns.append(
          TablePlan.Column(
            name: name, typeID: typeID, type: type, isRequired: row[2] == "t",
            attribute: attribute, attributeType: type.attributeType ?? .string,
            isOptional: row[2] != "t"))
      }
      if let unknown = table.ignored.union(table.attributes.keys).sorted().first(where: { name in
        !rows.contains { $0.first == name }
      }) {
        throw refusal(
          .badMapping, table, "has no published column '\(unknown)'; take it out of the mapping")
      }
      try checkIdentity(identity, plan)
      return plan
    }

    /// Returns the condition and the list of columns under which the table is published.
    private func publishedColumns(
      _ plan: TablePlan, extends: Bool
    ) throws -> (condition: String?, columns: String?) {
      let table = plan.table
      let command =
        connection.serverVersion >= 150_000
        ? "SELECT rowfilter, attnames::text[] FROM pg_publication_tables WHERE pubname = $1 AND "
          + "schemaname = $2 AND tablename = $3"
        : "SELECT NULL, NULL FROM pg_publication_tables WHERE pubname = $1 AND schemaname = $2 "
          + "AND tablename = $3"
      let names = [source.publication, table.schema, table.name]
      var rows = try connection.run(command, names)
      let addition =
        "ALTER PUBLICATION \(SQL.name(source.publication)) ADD TABLE \(plan.sqlName)"
      if rows.isEmpty, extends, source.options.createsPublication {
        try connection.run(addition)
        rows = try connection.run(command, names)
      }
      guard let row = rows.first, row.count == 2 else {
        throw refusal(
          extends ? .badSetup : .relationChanged, table,
          "is not in publication '\(source.publication)'; add it, \(addition), and then call "
            + "copyAgain(into:)")
      }
      return (row[0], row[1])
    }

    /// Returns the identity of the table's entry in the publication, and of the publication.
    private func publicationEntry(_ table: String) throws -> String {
      // Each alteration of the publication's own row gives the row another `xmin`. An entry by
      // schema has no condition and no list of columns.
      let schemas =
        connection.serverVersion >= 150_000
        ? "(SELECT s.oid FROM pg_publication_namespace s JOIN pg_class c ON c.relnamespace = "
          + "s.pnnspid WHERE s.pnpubid = p.oid AND c.oid = $2::oid)"
        : "NULL"
      let rows = try connection.run(
        "SELECT p.oid, p.xmin, (SELECT r.oid FROM pg_publication_rel r WHERE r.prpubid = p.oid AND "
          + "r.prrelid = $2::oid), \(schemas) FROM pg_publication p WHERE p.pubname = $1",
        [source.publication, table])
      return (rows.first ?? []).map { $0 ?? "-" }.joined(separator: " ")
    }

    private func checkIdentity(_ identity: String, _ plan: TablePlan) throws(PostgresError) {
      if identity == "n" {
        throw refusal(
          .badSetup, plan.table,
          "has REPLICA IDENTITY NOTHING, so the server does not say which row an update or a "
            + "delete changes; run ALTER TABLE \(plan.sqlName) REPLICA IDENTITY DEFAULT")
      }
      if plan.key.isEmpty {
        throw refusal(
          .badSetup, plan.table,
          "has no primary key among its followed columns, so the server does not say which row an "
            + "update or a delete changes; add a primary key, or run ALTER TABLE \(plan.sqlName) "
            + "REPLICA IDENTITY USING INDEX with a unique index")
      }
    }

    private func badName(
      _ name: String, of kind: String, _ table: PostgresTable, _ option: String
    ) -> PostgresError {
      refusal(
        .badMapping, table,
        "has the name '\(name)', which \(kind) cannot have; choose a name of ASCII letters, digits "
          + "and '_' by \(option)")
    }

    private func refusal(
      _ code: PostgresError.Code, _ table: PostgresTable, _ reason: String
    ) -> PostgresError {
      PostgresError(code, "\(table.label) \(reason)", table: table.label)
    }
  }
#endif
