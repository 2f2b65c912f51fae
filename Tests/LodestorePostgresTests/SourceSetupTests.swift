#if Postgres
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestorePostgres

  @Suite(
    .serialized, .timeLimit(.minutes(30)),
    .enabled(if: PostgresServer.programs != nil, PostgresServer.isMissing))
  struct `A database that cannot be followed is refused` {
    private func refusal(
      _ server: PostgresServer, _ tables: [PostgresTable], parameters: String? = nil
    ) async throws -> PostgresError? {
      var error: PostgresError?
      try await withStore { store in
        var source = source(server, tables)
        if let parameters { source.connection = parameters }
        error = await failure(of: source.follow(into: store))
      }
      return error
    }

    @Test(arguments: [
      ("CREATE TABLE a (id int)", PostgresError.Code.badSetup, "primary key"),
      ("CREATE VIEW a AS SELECT 1 AS id", .server, "a"),
      ("CREATE TABLE other (id int PRIMARY KEY)", .server, "a"),
      ("CREATE TABLE a (id int PRIMARY KEY, t interval)", .unsupportedType, "interval"),
      ("CREATE TABLE a (id int PRIMARY KEY, t time)", .unsupportedType, "time of day"),
      ("CREATE TABLE a (id int PRIMARY KEY, t money)", .unsupportedType, "numeric"),
      ("CREATE TABLE a (id int PRIMARY KEY, t point)", .unsupportedType, "point"),
      ("CREATE TABLE a (id int PRIMARY KEY, t int4range)", .unsupportedType, "int4range"),
      ("CREATE TABLE a (id int PRIMARY KEY, t bytea[])", .unsupportedType, "bytea[]"),
      (
        "CREATE TYPE pair AS (x int, y int); CREATE TABLE a (id int PRIMARY KEY, t pair)",
        .unsupportedType, "pair"
      ),
      (
        "CREATE TABLE a (id int PRIMARY KEY); ALTER TABLE a REPLICA IDENTITY NOTHING", .badSetup,
        "REPLICA IDENTITY DEFAULT"
      ),
      (
        "CREATE TABLE a (id int PRIMARY KEY, d date); INSERT INTO a VALUES (1, '-infinity')",
        .unsupportedValue, "-infinity"
      ),
      (
        "CREATE TABLE a (id int PRIMARY KEY, d timestamptz); INSERT INTO a VALUES (1, 'infinity')",
        .unsupportedValue, "infinity"
      ),
      (
        "CREATE TABLE a (id int PRIMARY KEY, n numeric); INSERT INTO a VALUES (1, '-Infinity')",
        .unsupportedValue, "infinite"
      ),
      (
        "CREATE TABLE a (id int PRIMARY KEY, n numeric); INSERT INTO a VALUES (1, "
          + "'1.23456789012345678901234567890123456789')",
        .unsupportedValue, "38 digits"
      ),
      (
        "CREATE TABLE a (id int PRIMARY KEY); CREATE PUBLICATION cache FOR TABLE a WITH (publish = "
          + "'insert')", .badSetup, "kinds of changes"
      ),
      (
        "CREATE TABLE a (id int PRIMARY KEY) PARTITION BY RANGE (id); CREATE PUBLICATION cache FOR "
          + "TABLE a", .badSetup, "publish_via_partition_root"
      ),
    ])
    func `a table, a type or a value is named`(
      _ sql: String, _ code: PostgresError.Code, _ word: String
    ) async throws {
      try await withServer { server in
        try server.run(sql)
        let error = try #require(try await refusal(server, [PostgresTable("a")]))
        #expect(error.code == code, "\(error)")
        #expect(error.message.contains(word), "\(error)")
        if code != .server { #expect(error.message.contains(code == .badSetup ? "a" : "public.a")) }
      }
    }

    @Test func `the level of the log and the role are named`() async throws {
      try await withServer("wal_level = replica") { server in
        try server.run("CREATE TABLE a (id int PRIMARY KEY)")
        let error = try await refusal(server, [PostgresTable("a")])
        #expect(error?.code == .badSetup && error?.message.contains("wal_level") == true)
      }
      try await withServer { server in
        try server.run("CREATE ROLE reader LOGIN; CREATE TABLE a (id int PRIMARY KEY)")
        let parameters = server.parameters.replacing("user=postgres", with: "user=reader")
        let error = try await refusal(server, [PostgresTable("a")], parameters: parameters)
        #expect(error?.code == .badSetup)
        #expect(error?.message.contains("ALTER ROLE \"reader\" REPLICATION") == true)
      }
    }

    @Test func `a server without a free slot is named`() async throws {
      try await withServer("max_replication_slots = 1") { server in
        try server.run("CREATE TABLE a (id int PRIMARY KEY)")
        try server.run("SELECT pg_create_logical_replication_slot('other', 'pgoutput')")
        let error = try await refusal(server, [PostgresTable("a")])
        #expect(error?.code == .badSetup)
        #expect(error?.message.contains("max_replication_slots") == true)
      }
    }

    @Test func `a slot of another store is not taken`() async throws {
      try await withServer { server in
        try server.run("CREATE TABLE a (id int PRIMARY KEY)")
        try server.run("SELECT pg_create_logical_replication_slot('cache', 'pgoutput')")
        let error = try await refusal(server, [PostgresTable("a")])
        #expect(error?.code == .slotInUse)
        #expect(error?.message.contains("pg_drop_replication_slot('cache')") == true)
      }
    }

    @Test func `an attribute of another type, a missing one and a required one are named`()
      async throws
    {
      try await withServer { server in
        try server.run(
          "CREATE TABLE a (name int PRIMARY KEY, people int); "
            + "CREATE TABLE b (name text PRIMARY KEY, extra int); CREATE TABLE c (people int "
            + "PRIMARY KEY)")
        for (table, word) in [("a", "City.name"), ("b", "extra"), ("c", "required")] {
          try await withStore([City.self]) { store in
            let source = source(server, [PostgresTable(table, as: City.self)])
            let error = await failure(of: source.follow(into: store))
            #expect(error?.code == .badMapping, "\(table)")
            #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
            try await source.dropSlot()
            try server.run("DROP PUBLICATION cache")
          }
        }
      }
    }
  }
#endif
