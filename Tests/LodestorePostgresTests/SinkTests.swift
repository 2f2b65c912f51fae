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
    struct Attributes: Sendable {
      var id: Attribute<City, RecordID<City>> { .recordID }
      var name: Attribute<City, String> { .init(0) }
      var people: Attribute<City, Int?> { .init(1) }
    }

    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<City>(
      "City", attributes: [.init("name", \.name), .init("people", \.people)],
      history: .kept(images: true))

    func encode(into writer: inout RecordWriter) {
      writer.write(name)
      writer.write(people)
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      name = try reader.read()
      people = try reader.read()
    }
  }

  @Suite(.serialized, .enabled(if: PostgresServer.programs != nil, PostgresServer.isMissing))
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
