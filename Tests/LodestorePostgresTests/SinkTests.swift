#if Postgres
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestorePostgres

  struct City: Hashable {
    var id = RecordID<City>()
    var name = ""
    var people: Int?
  }

  extension City: Entity {
    static let near = ToMany<City, City>()

    struct Attributes: Sendable {
      var id: Attribute<City, RecordID<City>> { .recordID }
      var name: Attribute<City, String> { .init(0) }
      var people: Attribute<City, Int?> { .init(1) }
      var near: ToMany<City, City> { City.near }
    }

    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<City>(
      "City", attributes: [.init("name", \.name), .init("people", \.people)],
      relationships: [.init("near", near)], history: .kept(images: true))

    func encode(into writer: inout RecordWriter) {
      writer.write(name)
      writer.write(people)
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      name = try reader.read()
      people = try reader.read()
    }
  }

  @Suite(
    .serialized, .timeLimit(.minutes(30)),
    .enabled(if: PostgresServer.programs != nil, PostgresServer.isMissing))
  struct `A database that receives a store` {
    private func rows(_ server: PostgresServer) throws -> [String] {
      try server.run(
        "SELECT id || ' ' || name || ' ' || coalesce(people::text, '-') FROM \"City\" ORDER BY id"
      )
      .compactMap { $0[0] }
    }

    @Test func `a plan changes nothing`() async throws {
      try await withServer { server in
        try await withStore([City.self]) { store in
          let commands = try await PostgresSink(server.parameters).plan(for: store)
          #expect(
            commands.contains { $0.hasPrefix("CREATE TABLE IF NOT EXISTS \"public\".\"City\"") })
          #expect(try server.run("SELECT 1 FROM pg_tables WHERE schemaname = 'public'").isEmpty)
        }
      }
    }

    @Test func `a push into a missing schema names the command that creates it`() async throws {
      try await withServer { server in
        try await withStore([City.self]) { store in
          let sink = PostgresSink(server.parameters, schema: "not there")
          let error = await #expect(throws: PostgresError.self) { try await sink.push(store) }
          #expect(error?.code == .badSetup)
          #expect(error?.message.contains("CREATE SCHEMA \"not there\"") == true)
          try server.run("CREATE SCHEMA \"not there\"")
          try await sink.push(store)
        }
      }
    }

    @Test func `the first push sends all records, and later ones send the changes`() async throws {
      try await withServer { server in
        try await withStore([City.self]) { store in
          let sink = PostgresSink(server.parameters)
          try await store.write { transaction in
            for number in 1...3 { try transaction.insert(City(name: "c\(number)", people: number)) }
          }
          let first = try await sink.push(store)
          #expect(first.isWhole && first.sentRecords == 3)
          #expect(try rows(server) == ["1 c1 1", "2 c2 2", "3 c3 3"])
          try await store.write { transaction in
            try transaction.delete(RecordID<City>(rawValue: 2))
            try transaction.modify(RecordID<City>(rawValue: 3)) { $0.people = nil }
            try transaction.insert(City(name: "ü", people: 9))
          }
          let second = try await sink.push(store)
          #expect(!second.isWhole && second.sentRecords == 2 && second.deletedRecords == 1)
          #expect(try rows(server) == ["1 c1 1", "3 c3 -", "4 ü 9"])
          #expect(try await sink.push(store).sentRecords == 0)
        }
      }
    }

    @Test func `links are rows, and a cleared entity leaves none`() async throws {
      try await withServer { server in
        try await withStore([City.self]) { store in
          let sink = PostgresSink(server.parameters)
          let ids = try await store.write { transaction in
            let ids = try (1...3).map { try transaction.insert(City(name: "c\($0)")).id }
            try transaction.link([(ids[0], ids[1]), (ids[0], ids[2])], by: City.near)
            return ids
          }
          #expect(try await sink.push(store).addedLinks == 2)
          try await store.write { transaction in
            try transaction.unlink([(ids[0], ids[1])], by: City.near)
            try transaction.link([(ids[2], ids[0])], by: City.near)
          }
          let second = try await sink.push(store)
          #expect(!second.isWhole && second.addedLinks == 1 && second.removedLinks == 1)
          let links = "SELECT from_id, to_id FROM \"City_near\" ORDER BY 1, 2"
          #expect(try server.run(links) == [["1", "3"], ["3", "1"]])
          try await store.write { try $0.delete(City.all) }
          try await sink.push(store)
          #expect(try rows(server).isEmpty)
          #expect(try server.run(links).isEmpty)
        }
      }
    }

    @Test func `values of each type return as they were`() async throws {
      try await withServer { server in
        try server.run(
          """
          CREATE TABLE a (key uuid PRIMARY KEY, b bool, s smallint, i int, l bigint, f real,
            d double precision, n numeric, t text, y bytea, at timestamptz, j jsonb);
          INSERT INTO a VALUES (gen_random_uuid(), false, -2, 3, -9007199254740993, 1.5, 1e300,
            -1234.5600, 'ü', '\\x00ff', '1999-12-31 23:59:59.5+00', '{"a": [1, null, "x"]}'),
            (gen_random_uuid(), true, 2, -3, 9007199254740993, 'NaN', '-Infinity', 1e30, '', '',
            '9999-01-01 00:00:00+00', '[]');
          INSERT INTO a (key, n) VALUES (gen_random_uuid(), 'NaN'),
            (gen_random_uuid(), 0.00000000000000000000000000000000000001),
            (gen_random_uuid(), 12345678901234567890123456789012345678);
          CREATE SCHEMA sunk
          """)
        try await withStore { first in
          let there = source(server, "a").follow(into: first)
          try await there.catchUp(to: try server.end())
          await there.stop()
          try await PostgresSink(server.parameters, schema: "sunk").push(first)
          try await withStore { second in
            var table = PostgresTable("a", schema: "sunk", entity: "b")
            table.ignored = ["id"]
            try server.run(
              "ALTER TABLE sunk.a ALTER key SET NOT NULL; CREATE UNIQUE INDEX k ON "
                + "sunk.a (key); ALTER TABLE sunk.a REPLICA IDENTITY USING INDEX k")
            var back = source(server, [table])
            back.slot = "back"
            let follower = back.follow(into: second)
            try await follower.catchUp(to: try server.end())
            await follower.stop()
            let found = try LodestorePostgresTests.rows(second, "b")
            #expect(found.count == 5)
            #expect(try found == LodestorePostgresTests.rows(first, "a"))
          }
        }
      }
    }

    @Test func `a schema of another store and an older copy of the store are refused`()
      async throws
    {
      try await withServer { server in
        let sink = PostgresSink(server.parameters)
        try await withStore([City.self]) { store in
          try await store.write { _ = try $0.insert(City(name: "c1")) }
          try await sink.push(store)
          try await withStore([City.self]) { other in
            let error = await #expect(throws: PostgresError.self) { try await sink.push(other) }
            #expect(error?.code == .otherServer)
            #expect(error?.message.contains("taken over") == true)
          }
          try server.run("UPDATE lodestore_cursor SET last_write = last_write + 5")
          let error = await #expect(throws: PostgresError.self) { try await sink.push(store) }
          #expect(error?.code == .otherServer)
          #expect(try rows(server) == ["1 c1 -"])
        }
      }
    }

    @Test func `an older copy of the store is refused after writes of its own`() async throws {
      try await withServer { server in
        let sink = PostgresSink(server.parameters)
        try await withStorePath { path in
          do {
            let store = try Store(at: path, entities: [City.self])
            defer { store.close() }
            try await store.write { _ = try $0.insert(City(name: "c1")) }
          }
          try FileManager.default.copyItem(atPath: path, toPath: path + ".old")
          do {
            let store = try Store(at: path, entities: [City.self])
            defer { store.close() }
            try await store.write { _ = try $0.insert(City(name: "c2")) }
            try await sink.push(store)
          }
          let old = try Store(at: path + ".old", entities: [City.self])
          defer { old.close() }
          for name in ["d2", "d3"] {
            try await old.write { _ = try $0.insert(City(name: name)) }
            let error = await #expect(throws: PostgresError.self) { try await sink.push(old) }
            #expect(error?.code == .otherServer)
            #expect(error?.message.contains("lodestore_cursor") == true)
          }
          #expect(try rows(server) == ["1 c1 -", "2 c2 -"])
          try server.run("DELETE FROM lodestore_cursor")
          #expect(try await sink.push(old).isWhole)
          #expect(try rows(server) == ["1 c1 -", "2 d2 -", "3 d3 -"])
        }
      }
    }

    @Test func `a push ends when its snapshot of the store is too old`() async throws {
      try await withServer { server in
        try await withStorePath { path in
          var options = StoreOptions()
          options.snapshotAgeLimit = .milliseconds(300)
          let store = try Store(at: path, entities: [City.self], options: options)
          defer { store.close() }
          try await store.write { transaction in
            for number in 0..<60_000 {
              try transaction.insert(City(name: "city number \(number) of many cities"))
            }
          }
          let sink = PostgresSink(server.parameters)
          try await sink.push(store)
          try await store.write { _ = try $0.delete(City.all) }
          let blocking = try server.connect()
          try blocking.run("BEGIN; LOCK TABLE \"City\" IN EXCLUSIVE MODE")
          let push = Task { try await sink.push(store) }
          for number in 0..<40 {
            try await Task.sleep(for: .milliseconds(50))
            try await store.write { _ = try $0.insert(City(name: "later \(number)")) }
          }
          let error = await #expect(throws: PostgresError.self) { try await push.value }
          #expect(error?.code == .snapshotExpired)
          #expect(error?.message.contains("snapshotAgeLimit") == true)
          #expect(try rows(server).count == 60_000)
          try blocking.run("ROLLBACK")
          try await sink.push(store)
          #expect(try rows(server).count == 40)
        }
      }
    }

    @Test func `pushes at one time take turns, and readers do not wait for them`() async throws {
      try await withServer { server in
        try await withStore([City.self]) { store in
          let sink = PostgresSink(server.parameters)
          try await sink.push(store)
          // A reader of the tables keeps its locks to the end.
          let reader = try server.connect()
          try reader.run("BEGIN; SELECT count(*) FROM \"City\", \"City_near\"")
          try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
              group.addTask {
                for number in 0..<20 {
                  try await store.write { _ = try $0.insert(City(name: "c\(number)")) }
                  try await sink.push(store)
                }
              }
            }
            try await group.waitForAll()
          }
          #expect(try rows(server).count == 40)
          try reader.run("COMMIT")
        }
      }
    }

    @Test func `a push whose connection the server ends leaves the rows, and the next one has all`()
      async throws
    {
      try await withServer { server in
        try await withStore([City.self]) { store in
          let sink = PostgresSink(server.parameters)
          try await sink.push(store)
          let blocking = try server.connect()
          for round in 1...3 {
            try await store.write { transaction in
              for number in 0..<20_000 { try transaction.insert(City(name: "c\(number)")) }
            }
            try blocking.run("BEGIN; LOCK TABLE \"City\" IN EXCLUSIVE MODE")
            let push = Task { try await sink.push(store) }
            let end = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE NOT granted"
            try await wait { try !server.run(end).isEmpty }
            let error = await #expect(throws: PostgresError.self) { try await push.value }
            #expect(error?.isTransient == true, "\(error.map { "\($0)" } ?? "")")
            #expect(try rows(server).count == (round - 1) * 20_000)
            try blocking.run("ROLLBACK")
            try await sink.push(store)
            #expect(try rows(server).count == round * 20_000)
          }
        }
      }
    }

    @Test func `a column of another type and a value without a counterpart are named`()
      async throws
    {
      try await withServer { server in
        let sink = PostgresSink(server.parameters)
        try await withStore([City.self]) { store in
          try server.run("CREATE TABLE \"City\" (id bigint PRIMARY KEY, name int)")
          let first = await #expect(throws: PostgresError.self) { try await sink.push(store) }
          #expect(first?.code == .badMapping && first?.column == "name")
          try server.run("DROP TABLE \"City\"")
          try await store.write { _ = try $0.insert(City(name: "a\u{0}b")) }
          let second = await #expect(throws: PostgresError.self) { try await sink.push(store) }
          #expect(second?.code == .unsupportedValue && second?.column == "name")
          #expect(second?.message.contains("'City' 1") == true)
        }
      }
    }

    @Test(.enabled(if: Session.program != nil))
    func `killed pushes leave the last whole push, and the next one has all`() async throws {
      try await withServer { server in
        try await withStorePath { path in
          let sink = PostgresSink(server.parameters)
          let count = "SELECT count(*), coalesce(max(people), -1) FROM \"City\""
          for round in 0..<6 {
            let store = try Store(at: path, entities: [City.self])
            try await store.write { transaction in
              for _ in 0..<4_000 { try transaction.insert(City(name: "c", people: round)) }
            }
            if round == 0 { try await sink.push(store) }
            store.close()
            let session = try Session(["push", path, server.parameters])
            #expect(session.firstLine() == "begun")
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...120)))
            session.kill()
            _ = try session.end()
            let found = try #require(try server.run(count).first)
            let whole = try #require((found[1]).flatMap { Int($0) })
            #expect(found[0] == "\((whole + 1) * 4_000)")
          }
          let store = try Store(at: path, entities: [City.self])
          defer { store.close() }
          try await sink.push(store)
          #expect(try server.run(count) == [["24000", "5"]])
        }
      }
    }

    @Test func `a database that crashes during pushes has the store's records in the end`()
      async throws
    {
      try await withServer { server in
        try await withStore([City.self]) { store in
          let sink = PostgresSink(server.parameters)
          for round in 0..<5 {
            try await store.write { transaction in
              for number in 0..<5_000 {
                try transaction.insert(City(name: "c\(round)", people: number))
              }
            }
            let push = Task { try await sink.push(store) }
            try await Task.sleep(for: .milliseconds(20 * round))
            try server.stop(immediately: true)
            _ = await push.result
            try server.start()
          }
          try await sink.push(store)
          let found = try server.run(
            "SELECT count(*), count(DISTINCT id), sum(people) FROM \"City\"")
          #expect(found == [["25000", "25000", "62487500"]])
        }
      }
    }
  }
#endif
