#if Postgres
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestorePostgres

  @Suite(
    .serialized, .timeLimit(.minutes(30)),
    .enabled(if: PostgresServer.programs != nil, PostgresServer.isMissing))
  struct `A publication that is changed while a store follows it` {
    /// Sources compare the publication with the copy each second.
    private func source(_ server: PostgresServer, _ tables: String...) -> PostgresSource {
      var source = LodestorePostgresTests.source(server, tables.map { PostgresTable($0) })
      source.options.catalogueInterval = .seconds(1)
      return source
    }

    @Test(arguments: [
      ("ALTER PUBLICATION cache DROP TABLE a", PostgresError.Code.relationChanged, "public.a"),
      ("ALTER PUBLICATION cache SET TABLE a WHERE (id < 9), b", .relationChanged, "public.a"),
      (
        "ALTER PUBLICATION cache SET (publish = 'insert'); ALTER PUBLICATION cache SET (publish = "
          + "'insert, update, delete, truncate')", .relationChanged, "cache"
      ),
      ("DROP TABLE a", .badSetup, "public.a"),
    ])
    func `the follower stops after the changes before`(
      _ sql: String, _ code: PostgresError.Code, _ word: String
    ) async throws {
      try await withServer { server in
        try server.run("CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY)")
        try await withStore { store in
          let follower = source(server, "a", "b").follow(into: store)
          try await follower.catchUp(to: try server.end())
          try server.run("INSERT INTO a VALUES (1); INSERT INTO b VALUES (1)")
          try server.run(sql)
          let error = await failure(of: follower)
          // A drop between two reads of the catalogue is first seen in the publication.
          let isDrop = sql.hasPrefix("DROP")
          #expect(error?.code == code || isDrop && error?.code == .relationChanged)
          #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
          #expect(try rows(store, "a") == ["1"] && rows(store, "b") == ["1"])
        }
      }
    }

    @Test(arguments: [
      "ALTER PUBLICATION cache DROP TABLE a; INSERT INTO a VALUES (2); "
        + "ALTER PUBLICATION cache ADD TABLE a",
      "DROP PUBLICATION cache; INSERT INTO a VALUES (2); CREATE PUBLICATION cache FOR TABLE a",
      "DROP PUBLICATION cache; INSERT INTO a VALUES (2)",
    ])
    func `changes that the server has left out lead to another copy`(_ sql: String) async throws {
      try await withServer { server in
        try server.run("CREATE TABLE a (id int PRIMARY KEY); INSERT INTO a VALUES (1)")
        try await withStore { store in
          var source = source(server, "a")
          let first = source.follow(into: store)
          try await first.catchUp(to: try server.end())
          await first.stop()
          for command in sql.split(separator: ";") { try server.run(String(command)) }
          let error = await failure(of: source.follow(into: store))
          #expect(error?.code == .relationChanged)
          #expect(error?.message.contains("copyAgain(into:)") == true)
          source.options.copiesAgainAfterAlteration = true
          let second = source.follow(into: store)
          try await second.catchUp(to: try server.end())
          #expect(try rows(store, "a") == ["1", "2"])
          await second.stop()
        }
      }
    }

    @Test func `a table that is locked for long does not stop the changes of the others`()
      async throws
    {
      try await withServer { server in
        try server.run("CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY)")
        try await withStore { store in
          let follower = source(server, "a", "b").follow(into: store)
          try await follower.catchUp(to: try server.end())
          let connection = try server.connect()
          try connection.run("BEGIN; LOCK TABLE a")
          for number in 1...8 {
            try server.run("INSERT INTO b VALUES (\(number))")
            try await Task.sleep(for: .milliseconds(500))
          }
          let end = try server.end()
          try await follower.catchUp(to: end)
          #expect(try rows(store, "b").count == 8)
          try connection.run("COMMIT")
          await follower.stop()
        }
      }
    }
  }
#endif
