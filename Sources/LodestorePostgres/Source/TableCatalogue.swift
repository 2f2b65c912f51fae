#if Postgres
  internal import EntityStore
  internal import LodestoreFormat

  /// Reads the tables, keys and publication of a database, and checks that they can be followed.
  struct TableCatalogue {
    let connection: PostgresConnection
    let source: PostgresSource

    /// Checks the server, and creates the publication if the source may.
    func prepare() throws(PostgresError) {
      guard connection.serverVersion >= 140_000 else {
        throw PostgresError(
          .badSetup,
          "PostgreSQL \(connection.label) has version \(connection.serverVersion / 10_000); "
            + "a source needs version 14 or later")
      }
      let level = try connection.run("SHOW wal_level").first?.first ?? nil
      guard level == "logical" else {
        throw PostgresError(
          .badSetup,
          "PostgreSQL \(connection.label) has wal_level = \(level ?? "?"); set wal_level "
            + "= logical in postgresql.conf and restart the server")
      }
      let names = source.tables.map { SQL.name($0.schema, $0.name) }.joined(separator: ", ")
      let command = "CREATE PUBLICATION \(SQL.name(source.publication)) FOR TABLE \(names)"
      let rows = try connection.run(
        "SELECT pubinsert AND pubupdate AND pubdelete AND pubtruncate FROM pg_publication "
          + "WHERE pubname = $1", [source.publication])
      guard let row = rows.first else {
        guard source.options.createsPublication else {
          throw PostgresError(
            .badSetup,
            "PostgreSQL \(connection.label) has no publication '\(source.publication)'; "
              + "create it: \(command)")
        }
        try connection.run(command)
        return
      }
      guard row.first == "t" else {
        throw PostgresError(
          .badSetup,
          "publication '\(source.publication)' leaves out some kinds of changes; set "
            + "publish = 'insert, update, delete, truncate'")
      }
    }

    func plans(_ store: Store) throws -> [TablePlan] {
      let types = try PostgresTypes(rows: connection.run(PostgresTypes.command))
      return try source.tables.map { try plan($0, types, store) }
    }

    private func plan(
      _ table: PostgresTable, _ types: PostgresTypes, _ store: Store
    ) throws -> TablePlan {
      let found = try connection.run(
        "SELECT c.oid, c.relkind, c.relreplident FROM pg_class c JOIN pg_namespace n ON n.oid = "
          + "c.relnamespace WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p')",
        [table.schema, table.name])
      guard let row = found.first, row.count == 3, let id = row[0], let identity = row[2] else {
        throw refusal(
          .badSetup, table, "is no table of \(connection.label); check its name and its schema")
      }
      let published = try connection.run(
        connection.serverVersion >= 150_000
          ? "SELECT rowfilter, attnames::text[] FROM pg_publication_tables WHERE pubname = $1 AND "
            + "schemaname = $2 AND tablename = $3"
          : "SELECT NULL, NULL FROM pg_publication_tables WHERE pubname = $1 AND schemaname = $2 "
            + "AND tablename = $3",
        [source.publication, table.schema, table.name])
      guard let publishedRow = published.first else {
        throw refusal(
          .badSetup, table,
          "is not in publication '\(source.publication)'; add it: ALTER PUBLICATION "
            + "\(SQL.name(source.publication)) ADD TABLE \(SQL.name(table.schema, table.name))")
      }
      let rows = try connection.run(
        "SELECT a.attname, a.atttypid, a.attnotnull, COALESCE(a.attnum = ANY(i.indkey::int2[]), "
          + "false) FROM pg_attribute a LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND "
          + (identity == "i" ? "i.indisreplident" : "i.indisprimary")
          + " WHERE a.attrelid = $1::oid AND a.attnum > 0 AND NOT a.attisdropped AND "
          + "a.attgenerated = '' AND ($2::text[] IS NULL OR a.attname::text = ANY($2::text[])) "
          + "ORDER BY a.attnum", [id, publishedRow.count > 1 ? publishedRow[1] : nil])
      var plan = TablePlan(
        table: table, entity: table.entity ?? table.name, columns: [], key: [],
        condition: publishedRow.first ?? nil, isPartitioned: row[1] == "p",
        infinity: source.options.infiniteDates)
      for row in rows {
        guard row.count == 4, let name = row[0], let typeID = row[1].flatMap({ UInt32($0) }) else {
          continue
        }
        if table.ignored.contains(name) { continue }
        if row[3] == "t" { plan.key.append(plan.columns.count) }
        let type = types.type(typeID)
        if case .unsupported(let typeName, let advice) = type {
          throw PostgresError(
            .unsupportedType,
            "\(table.label).\(name) has the type \(typeName), which a store does not have; "
              + advice,
            table: table.label, column: name)
        }
        plan.columns.append(
          TablePlan.Column(
            name: name, typeID: typeID, type: type, isRequired: row[2] == "t",
            attribute: table.attributes[name] ?? name,
            attributeType: type.attributeType ?? .string, isOptional: row[2] != "t"))
      }
      try checkIdentity(identity, plan)
      return try mapped(plan, store)
    }

    private func checkIdentity(_ identity: String, _ plan: TablePlan) throws(PostgresError) {
      if identity == "n" {
        throw refusal(
          .badSetup, plan.table,
          "has REPLICA IDENTITY NOTHING, so the server does not say which row "
            + "an update or a delete changes; run ALTER TABLE "
            + "\(SQL.name(plan.table.schema, plan.table.name)) REPLICA IDENTITY DEFAULT")
      }
      if plan.key.isEmpty {
        throw refusal(
          .badSetup, plan.table,
          "has no primary key among its published columns; add one, or a "
            + "unique index with ALTER TABLE … REPLICA IDENTITY USING INDEX")
      }
    }

    /// Returns the plan with the types of the entity's attributes; declares a missing entity.
    private func mapped(_ plan: TablePlan, _ store: Store) throws -> TablePlan {
      let dynamic = DynamicStore(store)
      if !dynamic.entities.contains(where: { $0.name == plan.entity }) {
        try dynamic.declare([try declared(plan)])
      }
      guard let entity = dynamic.entities.first(where: { $0.name == plan.entity })?.description
      else { return plan }
      var plan = plan
      for position in plan.columns.indices {
        let column = plan.columns[position]
        guard let attribute = entity.attribute(named: column.attribute) else {
          throw PostgresError(
            .badMapping,
            "'\(plan.entity)' has no attribute '\(column.attribute)' for \(plan.table.label)."
              + "\(column.name); declare it, name another one, or ignore the column",
            table: plan.table.label, column: column.name)
        }
        guard column.type.fits(attribute.type) else {
          throw PostgresError(
            .badMapping,
            "\(plan.table.label).\(column.name) is \(column.type.name), and '\(plan.entity)."
              + "\(attribute.name)' is \(attribute.type.name); declare the attribute as "
              + "\(column.type.attributeType?.name ?? "another type")",
            table: plan.table.label, column: column.name)
        }
        plan.columns[position].attributeType = attribute.type
        plan.columns[position].isOptional = attribute.isOptional
      }
      let given = Set(plan.attributes)
      let missing = entity.declaredAttributes.first {
        !$0.isOptional && $0.derivation == nil && $0.defaultValue == .null
          && !given.contains($0.name)
      }
      if let missing {
        throw refusal(
          .badMapping, plan.table,
          "has no column for the required attribute '\(plan.entity)."
            + "\(missing.name)'; map a column to it, or give it a default")
      }
      return plan
    }

    private func declared(_ plan: TablePlan) throws -> DeclaredEntity {
      try DeclaredEntity(
        name: plan.entity,
        attributes: plan.columns.map { column in
          DeclaredEntity.Attribute(
            name: column.attribute,
            storage: AttributeStorage(type: column.attributeType, isOptional: column.isOptional))
        }, indexes: [DeclaredEntity.DeclaredIndex(attributes: plan.key, isUnique: true)])
    }

    private func refusal(
      _ code: PostgresError.Code, _ table: PostgresTable, _ reason: String
    ) -> PostgresError {
      PostgresError(code, "\(table.label) \(reason)", table: table.label)
    }
  }
#endif
