#if Postgres
  import EntityStore
  import Foundation
  import LodestoreFormat
  import Testing

  @testable import LodestorePostgres

  @Suite(.serialized, .enabled(if: PostgresServer.programs != nil, PostgresServer.isMissing))
  struct `A store that follows a database` {
    private func withStore(_ body: (Store) async throws -> Void) async throws {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let store = try Store(at: folder.appendingPathComponent("a.lodestore").path, entities: [])
      defer { store.close() }
      try await body(store)
    }

    private func source(_ server: PostgresServer, _ tables: String...) -> PostgresSource {
      var source = PostgresSource(
        server.parameters, slot: "cache", tables: tables.map { PostgresTable($0) })
      source.options.firstWait = 0.05
      return source
    }

    /// The texts of the values of each record, in the order of their texts.
    private func rows(_ store: Store, _ name: String) throws -> [String] {
      try store.read { transaction in
        let snapshot = transaction.dynamicSnapshot
        let entity = try #require(snapshot.entity(named: name))
        var rows: [String] = []
        try snapshot.forEachRecord(of: entity) { record in
          let reader = try record.reader()
          let values = try entity.description.declaredAttributes.map { attribute in
            switch try reader.value(of: attribute) {
            case .null: "-"
            case .integer(let value): "\(value)"
            case .string(let value): value.count > 20 ? "\(value.count) characters" : value
            default: "?"
            }
          }
          rows.append(values.joined(separator: " "))
          return true
        }
        return rows.sorted()
      }
    }

    @Test func `the copy and all kinds of changes arrive`() async throws {
      try await withServer { server in
        try server.run(
          "CREATE TABLE a (id int PRIMARY KEY, name text, big text); ALTER TABLE a ALTER big SET "
            + "STORAGE EXTERNAL; CREATE TABLE b (id int PRIMARY KEY, name text); "
            + "INSERT INTO a VALUES (1, 'one', repeat('z', 9000)), (2, 'two', NULL); "
            + "INSERT INTO b VALUES (1, 'x')")
        try await withStore { store in
          let follower = source(server, "a", "b").follow(into: store)
          try await follower.catchUp(to: try server.end())
          #expect(try rows(store, "a") == ["1 one 9000 characters", "2 two -"])
          try server.run(
            "BEGIN; UPDATE a SET name = 'uno' WHERE id = 1; UPDATE a SET id = 3 WHERE id = 2; "
              + "INSERT INTO a VALUES (4, 'four', 'b'), (5, 'five', NULL); "
              + "DELETE FROM a WHERE id = 5; "
              + "TRUNCATE b; INSERT INTO b VALUES (7, 'y'); COMMIT")
          try await follower.catchUp(to: try server.end())
          #expect(try rows(store, "a") == ["1 uno 9000 characters", "3 two -", "4 four b"])
          #expect(try rows(store, "b") == ["7 y"])
          await follower.stop()
        }
      }
    }

    @Test func `each change is applied once when the source and the server are stopped`()
      async throws
    {
      try await withServer { server in
        try server.run("CREATE TABLE a (id int PRIMARY KEY, name text)")
        try await withStore { store in
          let source = source(server, "a")
          var next = 0
          for round in 0..<6 {
            let follower = source.follow(into: store)
            for _ in 0..<50 {
              try server.run(
                "INSERT INTO a SELECT i, 'new' FROM generate_series(\(next), \(next + 9)) i; "
                  + "UPDATE a SET name = 'old' WHERE id % 10 = 3; DELETE FROM a WHERE id % 10 = 7")
              next += 10
            }
            if round % 2 == 0 {
              try server.stop(immediately: true)
              try server.start()
            }
            if round == 5 { try await follower.catchUp(to: try server.end()) }
            await follower.stop()
          }
          let expected = try server.run("SELECT id || ' ' || name FROM a").compactMap { $0[0] }
          #expect(try rows(store, "a") == expected.sorted())
        }
      }
    }

    @Test func `a dropped slot leads to another copy without the rows that are gone`() async throws
    {
      try await withServer { server in
        try server.run(
          "CREATE TABLE a (id int PRIMARY KEY, name text); INSERT INTO a VALUES (1, 'x')")
        try await withStore { store in
          let source = source(server, "a")
          let first = source.follow(into: store)
          try await first.catchUp(to: try server.end())
          await first.stop()
          try await Task.sleep(for: .milliseconds(300))
          try server.run(
            "SELECT pg_drop_replication_slot('cache'); DELETE FROM a; INSERT INTO a VALUES (2, 'y')"
          )
          let second = source.follow(into: store)
          try await second.catchUp(to: try server.end())
          #expect(try rows(store, "a") == ["2 y"])
          #expect(second.status.repeatedCopies.count == 1)
          await second.stop()
        }
      }
    }

    @Test func `an altered table stops the source after the changes before it`() async throws {
      try await withServer { server in
        try server.run("CREATE TABLE a (id int PRIMARY KEY, name text)")
        try await withStore { store in
          let follower = source(server, "a").follow(into: store)
          try await follower.catchUp(to: try server.end())
          try server.run(
            "INSERT INTO a VALUES (1, 'x'); ALTER TABLE a ADD extra int; "
              + "INSERT INTO a VALUES (2, 'y', 3)"
          )
          let error = await #expect(throws: PostgresError.self) { try await follower.finished() }
          #expect(error?.code == .relationChanged)
          #expect(error?.message.contains("copyAgain(into:)") == true)
          let again = source(server, "a").copyAgain(into: store)
          _ = await #expect(throws: PostgresError.self) { try await again.finished() }
        }
      }
    }

    @Test(arguments: [
      ("CREATE TABLE a (id int)", PostgresError.Code.badSetup, "primary key"),
      ("CREATE TABLE a (id int PRIMARY KEY, t interval)", .unsupportedType, "interval"),
      (
        "CREATE TABLE a (id int PRIMARY KEY); ALTER TABLE a REPLICA IDENTITY NOTHING", .badSetup,
        "REPLICA IDENTITY"
      ),
      (
        "CREATE TABLE a (id int PRIMARY KEY, d date); INSERT INTO a VALUES (1, 'infinity')",
        .unsupportedValue, "infinity"
      ),
    ])
    func `a table that cannot be followed is refused by name`(
      _ sql: String, _ code: PostgresError.Code, _ word: String
    ) async throws {
      try await withServer { server in
        try server.run(sql)
        try await withStore { store in
          let follower = source(server, "a").follow(into: store)
          let error = await #expect(throws: PostgresError.self) { try await follower.finished() }
          #expect(error?.code == code)
          #expect(error?.message.contains(word) == true)
          #expect(error?.message.contains("public.a") == true)
        }
      }
    }
  }
#endif
