#if Postgres
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestorePostgres

  @Suite(
    .serialized, .timeLimit(.minutes(30)),
    .enabled(if: PostgresServer.programs != nil, PostgresServer.isMissing))
  struct `A store that follows a database` {
    @Test func `the copy and all kinds of changes arrive`() async throws {
      try await withServer { server in
        try server.run(
          "CREATE TABLE a (id int PRIMARY KEY, name text, big text); ALTER TABLE a ALTER big SET "
            + "STORAGE EXTERNAL; CREATE TABLE b (id int PRIMARY KEY, name text); "
            + "INSERT INTO a VALUES (1, 'one', repeat('z', 9000)), (2, 'two', NULL); "
            + "INSERT INTO b VALUES (1, 'x'); ANALYZE a, b")
        try await withStore { store in
          let source = source(server, "a", "b")
          #expect(try source.copyState(of: store) == PostgresCopyState(isComplete: false))
          let follower = source.follow(into: store)
          try await follower.catchUp(to: try server.end())
          #expect(follower.status.estimatedRows == 3 && follower.status.copiedRows == 3)
          #expect(try rows(store, "a") == ["1 one 9000 characters", "2 two -"])
          try server.run(
            "BEGIN; UPDATE a SET name = 'uno' WHERE id = 1; UPDATE a SET id = 3 WHERE id = 2; "
              + "INSERT INTO a VALUES (4, 'four', 'b'), (5, 'five', NULL); "
              + "DELETE FROM a WHERE id = 5; UPDATE a SET id = 6 WHERE id = 1; "
              + "TRUNCATE b; INSERT INTO b VALUES (7, 'y'); COMMIT")
          try await follower.catchUp()
          #expect(try rows(store, "a") == ["3 two -", "4 four b", "6 uno 9000 characters"])
          #expect(try rows(store, "b") == ["7 y"])
          await follower.stop()
          let state = try source.copyState(of: store)
          #expect(state.isComplete && state.position == follower.status.position)
          let age = try #require(state.lastCommit).timeIntervalSinceNow
          #expect(age < 1 && age > -600)
        }
      }
    }

    @Test func `values of each supported type arrive`() async throws {
      try await withServer { server in
        try server.run(
          """
          CREATE TYPE mood AS ENUM ('sad', 'glad');
          CREATE DOMAIN percent AS int CHECK (VALUE BETWEEN 0 AND 100);
          CREATE TABLE a (id uuid PRIMARY KEY, b bool, s smallint, i int, l bigint, f real,
            d double precision, n numeric, t text, v varchar(9), c char(3), y bytea, day date,
            at timestamp, tz timestamptz, j json, k jsonb, m mood, p percent, ai int[],
            at2 text[][], an numeric[])
          """)
        let row = """
          'aaaaaaaa-0000-0000-0000-0000000000ff', true, -2, 3, 9007199254740993, 1.5, -0.25,
          -1234.5600, 'ü', 'v', 'c', '\\x00ff', '2001-01-02', '2000-12-31 23:59:58',
          '1999-12-31 23:59:59.5+00', '{"a": [1, null]}', '{"b": 2}', 'glad', 7, '{1,NULL,3}',
          '{{a,b},{"c d","\\""}}', '{1.50,NaN}'
          """
        let expected =
          "aaaaaaaa-0000-0000-0000-0000000000ff true -2 3 9007199254740993 1.5 -0.25 -1234.56 ü v "
          + "c   [0, 255] date:86400.0 date:-2.0 date:-31622400.5 {\"a\":[1,null]} {\"b\":2} glad "
          + "7 [1,null,3] [[\"a\",\"b\"],[\"c d\",\"\\\"\"]] [\"1.5\",\"NaN\"]"
        try server.run("INSERT INTO a VALUES (\(row))")
        try await withStore { store in
          let follower = source(server, "a").follow(into: store)
          try await follower.catchUp(to: try server.end())
          #expect(try rows(store, "a") == [expected])
          try server.run("DELETE FROM a; INSERT INTO a VALUES (\(row))")
          try await follower.catchUp(to: try server.end())
          #expect(try rows(store, "a") == [expected])
          let nulls = Array(repeating: "NULL", count: 21).joined(separator: ", ")
          try server.run("INSERT INTO a VALUES (gen_random_uuid(), \(nulls))")
          try server.run("UPDATE a SET n = 'NaN', day = '294000-01-01' WHERE b")
          try await follower.catchUp(to: try server.end())
          #expect(try rows(store, "a").contains { $0.contains(" NaN ") })
          #expect(try rows(store, "a").count == 2)
          await follower.stop()
        }
      }
    }

    @Test func `tables that change together are seen together`() async throws {
      try await withServer { server in
        try server.run(
          "CREATE TABLE a (id int PRIMARY KEY, sum int); CREATE TABLE b (id int PRIMARY KEY, sum "
            + "int); INSERT INTO a SELECT i, 100 FROM generate_series(1, 20) i; "
            + "INSERT INTO b SELECT i, 100 FROM generate_series(1, 20) i")
        try await withStore { store in
          let follower = source(server, "a", "b").follow(into: store)
          try await follower.catchUp(to: try server.end())
          let writing = Task.detached {
            let connection = try server.connect()
            var number = 0
            while number < 300 || !Task.isCancelled {
              defer { number += 1 }
              let (from, to) = (number % 20 + 1, number * 7 % 20 + 1)
              try connection.run(
                "BEGIN; UPDATE a SET sum = sum - \(number % 300) WHERE id = \(from); "
                  + "UPDATE b SET sum = sum + \(number % 300) WHERE id = \(to); COMMIT")
            }
          }
          var seen: Set<[String]> = []
          // Reads and writes go on until different states were seen, also on a slow machine.
          let limit = Date(timeIntervalSinceNow: 60)
          var count = 0
          while count < 200 || seen.count <= 2 && Date() < limit {
            count += 1
            let both = try await store.read { transaction in
              let snapshot = transaction.dynamicSnapshot
              return try ["a", "b"].map { try sum(snapshot, $0) }
            }
            #expect(both.reduce(0, +) == 4_000)
            seen.insert(both.map(String.init))
            try await Task.sleep(for: .milliseconds(3))
          }
          writing.cancel()
          try await writing.value
          try await follower.catchUp(to: try server.end())
          #expect(seen.count > 2)
          await follower.stop()
        }
      }
    }

    private func sum(_ snapshot: DynamicSnapshot, _ name: String) throws -> Int64 {
      let entity = try #require(snapshot.entity(named: name))
      let attribute = try #require(entity.description.attribute(named: "sum"))
      var sum: Int64 = 0
      try snapshot.forEachRecord(of: entity) { record in
        if case .integer(let value) = try record.reader().value(of: attribute) { sum += value }
        return true
      }
      return sum
    }

    @Test func `rows that change during the copy arrive once`() async throws {
      try await withServer { server in
        try server.run(
          "CREATE TABLE a (id int PRIMARY KEY, name text); "
            + "INSERT INTO a SELECT i, 'x' FROM generate_series(1, 20000) i")
        try await withStore { store in
          let writing = Task.detached {
            let connection = try server.connect()
            for number in 0..<400 {
              try connection.run(
                "BEGIN; INSERT INTO a VALUES (\(30_000 + number), 'new'); UPDATE a SET name = name "
                  + "|| 'y' WHERE id = \(number * 37 % 20_000); DELETE FROM a WHERE id = "
                  + "\(number * 53 % 20_000); COMMIT")
            }
          }
          var source = source(server, "a")
          source.options.groupSize = 500
          let follower = source.follow(into: store)
          try await writing.value
          try await follower.catchUp(to: try server.end())
          await follower.stop()
          let expected = try server.run("SELECT id || ' ' || name FROM a").compactMap { $0[0] }
          #expect(try rows(store, "a") == expected.sorted())
        }
      }
    }

    @Test(arguments: [
      "ALTER TABLE a REPLICA IDENTITY FULL",
      "ALTER TABLE a REPLICA IDENTITY USING INDEX other",
    ])
    func `the rows of each replica identity are found`(_ sql: String) async throws {
      try await withServer { server in
        try server.run(
          "CREATE TABLE a (id int PRIMARY KEY, other int NOT NULL, name text, big text); "
            + "ALTER TABLE a ALTER big SET STORAGE EXTERNAL; "
            + "CREATE UNIQUE INDEX other ON a (other); INSERT INTO a SELECT i, i + 100, 'x', "
            + "repeat('z', 9000) FROM generate_series(1, 5) i; \(sql)")
        try await withStore { store in
          let follower = source(server, "a").follow(into: store)
          try await follower.catchUp(to: try server.end())
          try server.run(
            "UPDATE a SET name = 'y' WHERE id = 1; UPDATE a SET id = 12 WHERE id = 2; UPDATE a SET "
              + "other = 303 WHERE id = 3; DELETE FROM a WHERE id = 4")
          try await follower.catchUp(to: try server.end())
          // The server does not send the large values again, which no update has changed.
          #expect(
            try rows(store, "a")
              == ["1 101 y", "12 102 x", "3 303 x", "5 105 x"].map { $0 + " 9000 characters" })
          await follower.stop()
        }
      }
    }

    @Test func `the rows of partitions are records of one entity`() async throws {
      try await withServer { server in
        try server.run(
          "CREATE TABLE a (id int PRIMARY KEY, name text) PARTITION BY RANGE (id); CREATE TABLE a1 "
            + "PARTITION OF a FOR VALUES FROM (0) TO (10); CREATE TABLE a2 PARTITION OF a FOR "
            + "VALUES FROM (10) TO (20); INSERT INTO a VALUES (1, 'x'), (11, 'y')")
        try await withStore { store in
          let follower = source(server, "a").follow(into: store)
          try await follower.catchUp(to: try server.end())
          #expect(try rows(store, "a") == ["1 x", "11 y"])
          try server.run(
            "UPDATE a SET id = 15 WHERE id = 1; INSERT INTO a2 VALUES (12, 'z'); CREATE TABLE a3 "
              + "PARTITION OF a FOR VALUES FROM (20) TO (30); INSERT INTO a VALUES (25, 'w')")
          try await follower.catchUp(to: try server.end())
          #expect(try rows(store, "a") == ["11 y", "12 z", "15 x", "25 w"])
          try server.run("TRUNCATE a")
          try await follower.catchUp(to: try server.end())
          #expect(try rows(store, "a").isEmpty)
          await follower.stop()
        }
      }
    }

    @Test func `only published rows and columns arrive`() async throws {
      try await withServer { server in
        try server.run(
          "CREATE TABLE a (id int PRIMARY KEY, name text, secret text, twice int GENERATED ALWAYS "
            + "AS (id * 2) STORED); INSERT INTO a VALUES (1, 'x', 's'), (2, 'y', 's'), (9, 'z', "
            + "'s'); CREATE PUBLICATION cache FOR TABLE a (id, name) WHERE (id < 5)")
        try await withStore { store in
          let follower = source(server, "a").follow(into: store)
          try await follower.catchUp(to: try server.end())
          #expect(try rows(store, "a") == ["1 x", "2 y"])
          try server.run("UPDATE a SET id = 3 WHERE id = 9; UPDATE a SET id = 8 WHERE id = 1")
          try await follower.catchUp(to: try server.end())
          #expect(try rows(store, "a") == ["2 y", "3 z"])
          await follower.stop()
        }
      }
    }

    @Test func `rows become records of a program's entity`() async throws {
      try await withServer { server in
        try server.run(
          "CREATE TABLE towns (title text PRIMARY KEY, people int, area int); "
            + "INSERT INTO towns VALUES ('Rom', 3, 4)")
        try await withStore([Town.self]) { store in
          let table = PostgresTable(
            "towns", as: Town.self, attributes: ["title": "name"], ignoring: ["area"])
          let follower = source(server, [table]).follow(into: store)
          try await follower.catchUp(to: try server.end())
          try server.run("UPDATE towns SET people = NULL; INSERT INTO towns VALUES ('Ulm', 1, 2)")
          try await follower.catchUp(to: try server.end())
          let towns = try await store.fetch(Town.all.sorted(by: \.name))
          #expect(towns.map(\.name) == ["Rom", "Ulm"] && towns.map(\.people) == [nil, 1])
          await follower.stop()
        }
      }
    }
  }

  struct Town: Hashable {
    var id = RecordID<Town>()
    var name = ""
    var people: Int?
  }

  extension Town: Entity {
    struct Attributes: Sendable {
      var id: Attribute<Town, RecordID<Town>> { .recordID }
      var name: Attribute<Town, String> { .init(0) }
      var people: Attribute<Town, Int?> { .init(1) }
    }

    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<Town>(
      "Town", attributes: [.init("name", \.name), .init("people", \.people)],
      unique: [[\.name]])

    func encode(into writer: inout RecordWriter) {
      writer.write(name)
      writer.write(people)
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      name = try reader.read()
      people = try reader.read()
    }
  }
#endif
