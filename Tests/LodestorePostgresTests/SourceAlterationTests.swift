#if Postgres
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestorePostgres

  @Suite(
    .serialized, .timeLimit(.minutes(30)),
    .enabled(if: PostgresServer.programs != nil, PostgresServer.isMissing))
  struct `A table that is altered while a store follows it` {
    @Test(arguments: [
      ("ALTER TABLE a ADD extra int", "extra"), ("ALTER TABLE a DROP name", "name"),
      ("ALTER TABLE a RENAME name TO title", "name"),
      ("ALTER TABLE a ALTER name TYPE varchar(20)", "another type"),
      ("ALTER TABLE a RENAME TO b; CREATE VIEW a AS SELECT * FROM b", "public.b"),
      (
        "ALTER TABLE a RENAME TO b; CREATE TABLE a (LIKE b INCLUDING ALL); ALTER PUBLICATION cache "
          + "ADD TABLE a", "another table"
      ),
      (
        "CREATE UNIQUE INDEX other ON a (other); ALTER TABLE a REPLICA IDENTITY USING INDEX other",
        "replica identity"
      ),
      ("ALTER TABLE a DROP CONSTRAINT a_pkey, ADD PRIMARY KEY (other)", "replica identity"),
      ("ALTER TABLE a REPLICA IDENTITY NOTHING", "REPLICA IDENTITY NOTHING"),
    ])
    func `the follower stops after the changes before the alteration`(
      _ sql: String, _ word: String
    ) async throws {
      try await withServer { server in
        try server.run("CREATE TABLE a (id int PRIMARY KEY, other int NOT NULL, name text)")
        try await withStore { store in
          let follower = source(server, "a").follow(into: store)
          try await follower.catchUp(to: try server.end())
          try server.run("INSERT INTO a (id, other) VALUES (1, 5)")
          try server.run("BEGIN; \(sql); COMMIT")
          try server.run("INSERT INTO a (id, other) VALUES (2, 6)")
          let error = await failure(of: follower)
          #expect(error?.code == .relationChanged)
          #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
          #expect(error?.message.contains("copyAgain(into:)") == true)
          #expect(try rows(store, "a") == ["1 5 -"])
        }
      }
    }

    @Test func `another copy follows new, dropped and renamed columns`() async throws {
      try await withServer { server in
        try server.run(
          "CREATE TABLE a (id int PRIMARY KEY, name text NOT NULL, gone text NOT NULL); "
            + "INSERT INTO a VALUES (1, 'x', 'g')")
        try await withStore { store in
          var source = source(server, "a")
          source.options.copiesAgainAfterAlteration = true
          let follower = source.follow(into: store)
          try await follower.catchUp(to: try server.end())
          try server.run(
            "ALTER TABLE a ADD extra int NOT NULL DEFAULT 7; ALTER TABLE a DROP gone; ALTER "
              + "TABLE a RENAME name TO title; ALTER TABLE a ALTER title DROP NOT NULL")
          try server.run("INSERT INTO a VALUES (2, NULL, 3)")
          try await follower.catchUp(to: try server.end())
          #expect(try rows(store, "a") == ["1 x 7", "2 - 3"])
          #expect(follower.status.repeatedCopies.count == 1)
          await follower.stop()
          let quiet = source.follow(into: store)
          try await quiet.catchUp(to: try server.end())
          #expect(quiet.status.repeatedCopies.isEmpty && quiet.status.copiedRows == 0)
          await quiet.stop()
        }
      }
    }

    @Test func `a column that is ignored after it was added needs no copy`() async throws {
      try await withServer { server in
        try server.run("CREATE TABLE a (id int PRIMARY KEY, name text)")
        try await withStore { store in
          let first = source(server, "a").follow(into: store)
          try await first.catchUp(to: try server.end())
          try server.run("ALTER TABLE a ADD extra int; INSERT INTO a VALUES (1, 'x', 2)")
          #expect(await failure(of: first)?.column == "extra")
          var table = PostgresTable("a")
          table.ignored = ["extra"]
          let second = source(server, [table]).follow(into: store)
          try await second.catchUp(to: try server.end())
          #expect(try rows(store, "a") == ["1 x"])
          #expect(second.status.copiedRows == 0)
          await second.stop()
        }
      }
    }

    @Test func `a value that the store refuses stops the follower before its transaction`()
      async throws
    {
      try await withServer { server in
        try server.run("CREATE TABLE a (id int PRIMARY KEY, day date)")
        try await withStore { store in
          var source = source(server, "a")
          let follower = source.follow(into: store)
          try await follower.catchUp(to: try server.end())
          try server.run("INSERT INTO a VALUES (1, NULL)")
          try server.run("INSERT INTO a VALUES (2, NULL), (3, 'infinity')")
          let error = await failure(of: follower)
          #expect(error?.code == .unsupportedValue && error?.column == "day")
          #expect(try rows(store, "a") == ["1 -"])
          source.options.infiniteDates = .clamp
          let second = source.follow(into: store)
          try await second.catchUp(to: try server.end())
          #expect(try rows(store, "a") == ["1 -", "2 -", "3 date:252423993600.0"])
          await second.stop()
        }
      }
    }

    @Test func `a table that is added to the source is copied on request`() async throws {
      try await withServer { server in
        try server.run(
          "CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY); "
            + "INSERT INTO b VALUES (4)")
        try await withStore { store in
          let first = source(server, "a").follow(into: store)
          try await first.catchUp(to: try server.end())
          await first.stop()
          let both = source(server, "a", "b")
          let error = await failure(of: both.follow(into: store))
          #expect(error?.message.contains("copyAgain(into:)") == true)
          let again = both.copyAgain(into: store)
          try await again.catchUp(to: try server.end())
          #expect(try rows(store, "b") == ["4"])
          await again.stop()
        }
      }
    }
  }
#endif
