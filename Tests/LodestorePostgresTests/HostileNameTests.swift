#if Postgres
  import EntityStore
  import Foundation
  import Testing

  @testable import LodestorePostgres

  /// Names of schemas, tables, columns, types and publications that a command must quote.
  @Suite(
    .serialized, .timeLimit(.minutes(30)),
    .enabled(if: PostgresServer.programs != nil, PostgresServer.isMissing))
  struct `Names with any characters` {
    /// A quote before a combining mark is a part of another character of Swift.
    private static let names = [
      "say \"hi\"", "mark\"\u{301}; DROP TABLE x; --", "'; DROP TABLE x; --", "\u{301}first",
      "line\nbreak\ttab", "back\\slash $1 %s {a,b} \\000", "a.b", "1st", "select", " ", "Ünï 表 😀",
      String(repeating: "é", count: 31) + "x",
    ]

    /// Quotes a name by its bytes.
    private func quoted(_ name: String, by quote: UInt8 = UInt8(ascii: "\"")) -> String {
      let bytes = name.utf8.flatMap { $0 == quote ? [quote, quote] : [$0] }
      return String(decoding: [quote] + bytes + [quote], as: UTF8.self)
    }

    @Test func `tables, columns, types and publications of any name are followed`() async throws {
      try await withServer { server in
        let schema = "in \"\u{301}"
        try server.run("CREATE SCHEMA \(quoted(schema))")
        var tables: [PostgresTable] = []
        var labels: [(table: String, value: String)] = []
        for (number, name) in Self.names.enumerated() {
          let other = Self.names[(number + 1) % Self.names.count]
          let (type, label) = (
            "\(quoted(schema)).\(quoted("t\(number)\"\u{301}"))",
            "\(quoted(schema)).\(quoted(name))"
          )
          let value = quoted(other, by: UInt8(ascii: "'"))
          try server.run(
            "CREATE TYPE \(type) AS ENUM ('x', \(value)); CREATE TABLE \(label) (\(quoted(name)) "
              + "int PRIMARY KEY, \(quoted(other)) \(type)); INSERT INTO \(label) VALUES (1, "
              + "'x'), (2, \(value)), (3, NULL)")
          var table = PostgresTable(name, schema: schema, entity: "Table\(number)")
          table.attributes = [name: "key", other: "value"]
          tables.append(table)
          labels.append((label, value))
        }
        var source = source(server, tables)
        source.options.publication = "all, \"\u{301}'of' them"
        let chosen = source
        try await withStore { store in
          let follower = chosen.follow(into: store)
          try await follower.catchUp(to: try server.end())
          for (number, (label, value)) in labels.enumerated() {
            let (key, column) = (
              Self.names[number], Self.names[(number + 1) % Self.names.count]
            )
            try server.run(
              "UPDATE \(label) SET \(quoted(column)) = \(value) WHERE \(quoted(key)) = 1; "
                + "DELETE FROM \(label) WHERE \(quoted(key)) = 2; INSERT INTO \(label) VALUES "
                + "(4, 'x')")
          }
          try await follower.catchUp(to: try server.end())
          for number in labels.indices {
            let value = Self.names[(number + 1) % Self.names.count]
            let expected = value.count > 20 ? "\(value.count) characters" : value
            #expect(
              try rows(store, "Table\(number)") == ["1 \(expected)", "3 -", "4 x"].sorted(),
              "\(Self.names[number])")
          }
          await follower.stop()
        }
      }
    }

    @Test func `a table whose name no entity can have is refused by name`() async throws {
      try await withServer { server in
        try server.run("CREATE TABLE \"a b\" (id int PRIMARY KEY)")
        try await withStore { store in
          let error = await failure(of: source(server, "a b").follow(into: store))
          #expect(error?.code == .badMapping && error?.message.contains("'a b'") == true)
        }
        try server.run("CREATE TABLE a (id int PRIMARY KEY, \"b c\" int)")
        try await withStore { store in
          let error = await failure(of: source(server, "a").follow(into: store))
          #expect(error?.code == .badMapping && error?.message.contains("'b c'") == true)
        }
      }
    }

    @Test func `schemas of any name receive a store`() async throws {
      try await withServer { server in
        for name in Self.names {
          try server.run("CREATE SCHEMA \(quoted(name))")
          try await push(into: name, server)
        }
      }
    }

    private func push(into schema: String, _ server: PostgresServer) async throws {
      try await withStore([City.self]) { store in
        var sink = PostgresSink(server.parameters)
        sink.schema = schema
        let texts = Self.names + ["\"\u{301}", "\\N", "\\."]
        try await store.write { tx in
          for (number, text) in texts.enumerated() {
            try tx.insert(City(name: text, people: number))
          }
        }
        try await sink.push(store)
        try await store.write { tx in
          try tx.modify(RecordID<City>(rawValue: 1)) { $0.name = "one" }
          try tx.delete(RecordID<City>(rawValue: 2))
        }
        try await sink.push(store)
        let found = try server.run(
          "SELECT name FROM \(quoted(schema)).\"City\" ORDER BY id"
        ).compactMap { $0.first ?? nil }
        #expect(found == ["one"] + texts.dropFirst(2), "\(schema)")
      }
    }

    @Test func `attributes that would have one column are refused`() async throws {
      try await withServer { server in
        try await withStore([Twin.self]) { store in
          let error = await #expect(throws: PostgresError.self) {
            _ = try await PostgresSink(server.parameters).push(store)
          }
          #expect(error?.code == .badMapping && error?.message.contains("'id_'") == true)
        }
      }
    }
  }

  private struct Twin: Entity {
    var id = RecordID<Twin>()
    var first: Int
    var second: Int

    struct Attributes: Sendable {
      var id: Attribute<Twin, RecordID<Twin>> { .recordID }
      var first: Attribute<Twin, Int> { .init(0) }
      var second: Attribute<Twin, Int> { .init(1) }
    }

    static var attributes: Attributes { Attributes() }
    static let schema = EntitySchema<Twin>(
      "Twin", attributes: [.init("id", \.first), .init("id_", \.second)])

    func encode(into writer: inout RecordWriter) {
      writer.write(first)
      writer.write(second)
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      first = try reader.read()
      second = try reader.read()
    }
  }
#endif
