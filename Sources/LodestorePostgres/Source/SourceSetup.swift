#if Postgres
  /// Checks that a server can send its changes, and creates the publication.
  struct SourceSetup {
    let connection: PostgresConnection
    let source: PostgresSource

    /// - Parameter creates: whether a missing publication may be created. Without a copy after it,
    ///   the changes before a new publication would be lost.
    func prepare(creates: Bool) throws(PostgresError) {
      // The role may have limits of time, which would end a copy. Policies of rows would filter it
      // without a word.
      try connection.run(
        "SET statement_timeout = 0; SET lock_timeout = 0; SET row_security = off; "
          + "SET idle_in_transaction_session_timeout = 0")
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
      try checkRole()
      try preparePublication(creates: creates)
    }

    private func checkRole() throws(PostgresError) {
      // Where a service has the role `rds_replication`, its members may replicate.
      let rows = try connection.run(
        "SELECT rolname, rolsuper OR rolreplication OR EXISTS (SELECT 1 FROM pg_roles WHERE "
          + "rolname = 'rds_replication') FROM pg_roles WHERE rolname = current_user")
      guard let row = rows.first, row.count == 2, row[1] == "f" else { return }
      let name = SQL.name(row[0] ?? "")
      throw PostgresError(
        .badSetup,
        "the role \(name) of \(connection.label) must not replicate; run ALTER ROLE \(name) "
          + "REPLICATION as a superuser")
    }

    private func preparePublication(creates: Bool) throws(PostgresError) {
      let tables = source.tables.map { SQL.name($0.schema, $0.name) }.joined(separator: ", ")
      let command =
        "CREATE PUBLICATION \(SQL.name(source.publication)) FOR TABLE \(tables) WITH "
        + "(publish_via_partition_root = true)"
      let rows = try connection.run(
        "SELECT pubinsert AND pubupdate AND pubdelete AND pubtruncate, pubviaroot FROM "
          + "pg_publication WHERE pubname = $1", [source.publication])
      guard let row = rows.first, row.count == 2 else {
        guard creates else {
          throw PostgresError(
            .relationChanged,
            "publication '\(source.publication)' of \(connection.label) was dropped after the "
              + "copy; call copyAgain(into:)")
        }
        guard source.options.createsPublication else {
          throw PostgresError(
            .badSetup,
            "PostgreSQL \(connection.label) has no publication '\(source.publication)'; "
              + "create it: \(command)")
        }
        try connection.run(command)
        return
      }
      guard row[0] == "t" else {
        throw PostgresError(
          .badSetup,
          "publication '\(source.publication)' leaves out some kinds of changes; run ALTER "
            + "PUBLICATION \(SQL.name(source.publication)) SET (publish = 'insert, update, delete, "
            + "truncate')")
      }
      if row[1] != "t" { try checkPartitions() }
    }

    /// Throws when changes of a partitioned table would carry the names of its partitions.
    private func checkPartitions() throws(PostgresError) {
      for table in source.tables {
        let rows = try connection.run(
          "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname "
            + "= $1 AND c.relname = $2 AND c.relkind = 'p'", [table.schema, table.name])
        guard !rows.isEmpty else { continue }
        throw PostgresError(
          .badSetup,
          "\(table.label) is partitioned, and publication '\(source.publication)' sends changes "
            + "under the names of the partitions; run ALTER PUBLICATION "
            + "\(SQL.name(source.publication)) SET (publish_via_partition_root = true), and then "
            + "call copyAgain(into:)", table: table.label)
      }
    }
  }
#endif
