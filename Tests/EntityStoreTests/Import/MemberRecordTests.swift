import Foundation
import Testing

@testable import EntityStore

/// Records that are the members of an object, and links that an object's keys name.
@Suite struct `Records that are members` {
  private func pages(_ texts: String...) -> AsyncStream<Data> {
    AsyncStream { continuation in
      for text in texts { continuation.yield(Data(text.utf8)) }
      continuation.finish()
    }
  }

  private let text = #"{"players": {"Ada": {"points": 1}, "Bo\u0062": {"points": 2}, "Cyd": 3}}"#

  private func importer(_ store: Store) -> Importer<PlayerPoints> {
    var importer = Importer(into: store, PlayerPoints.self, matching: .unique(\.name))
    importer.keyName = "key"
    return importer
  }

  private func expectPlayers(_ store: Store, _ report: ImportReport) throws {
    #expect(report.inserted == 2 && report.rejected == 1, "\(report)")
    let players = try store.fetch(PlayerPoints.all)
    #expect(players.map(\.name) == ["Ada", "Bob"] && players.map(\.points) == [1, 2])
  }

  @Test func `records that are members have their keys as an attribute`() async throws {
    try await withTemporaryStore([PlayerPoints.self]) { store in
      let report = try await importer(store)
        .run(pages(text), records: "players", renaming: ["key": "name"])
      try expectPlayers(store, report)
      let offset = try #require(report.rejects.first?.byteOffset)
      #expect(Array(text.utf8)[offset] == UInt8(ascii: "3"))
    }
  }

  private struct Row: Decodable {
    var key: String
    var points: Int
  }

  @Test func `records that are members have their keys in decoded values of any type`() async throws
  {
    try await withTemporaryStore([PlayerPoints.self]) { store in
      let report = try await importer(store).run(pages(text), records: "players") { (row: Row) in
        PlayerPoints(name: row.key, points: row.points)
      }
      try expectPlayers(store, report)
    }
    try await withTemporaryStore([PlayerPoints.self]) { store in
      let report = try await importer(store).run(pages(text), records: "players") {
        (row: JSONValue) throws in
        guard let name = row["key"]?.stringValue, let points = row["points"]?.intValue else {
          throw CocoaError(.coderInvalidValue)
        }
        return PlayerPoints(name: name, points: Int(points))
      }
      try expectPlayers(store, report)
    }
    try await withTemporaryStore([PlayerPoints.self]) { store in
      let text = #"{"Ada": {"points": "1"}, "Bob": {"points": "2", "key": "Bob"}, "Cyd": []}"#
      let report = try await importer(store).run(pages(text)) { (row: [String: String]) in
        PlayerPoints(name: row["key"] ?? "", points: Int(row["points"] ?? "") ?? 0)
      }
      try expectPlayers(store, report)
    }
  }

  @Test func `records with numbers as keys get an attribute of numbers`() async throws {
    try await withTemporaryStore([Film.self]) { store in
      var importer = Importer(into: store, Film.self, matching: .unique(\.episode))
      importer.keyName = "episode"
      let report = try await importer.run(
        pages(#"{"4": {"title": "A New Hope"}, "x": {"title": "?"}}"#), renaming: [:])
      #expect(report.inserted == 1 && report.rejected == 1, "\(report)")
      #expect(try await store.fetch(Film.all).map(\.episode) == [4])
    }
  }

  @Test func `records that are members are distinguished from an array, with the remedy`()
    async throws
  {
    try await withTemporaryStore([PlayerPoints.self]) { store in
      let array = await #expect(throws: StoreError.self) {
        try await importer(store).run(pages("[]"), renaming: ["key": "name"])
      }
      #expect(array?.message.contains("must be an object whose members are the records") == true)
      let plain = Importer(into: store, PlayerPoints.self, matching: .unique(\.name))
      let object = await #expect(throws: StoreError.self) {
        try await plain.run(pages(text), records: "players", renaming: ["key": "name"])
      }
      #expect(object?.message.contains("give the importer a keyName") == true)
    }
  }

  @Test func `records that are members link by the keys of an object`() async throws {
    try await withTemporaryStore(StarWars.entities) { store in
      let people = ["b", "a", "c"].map { #"{"url": "\#($0)", "name": "\#($0)"}"# }
      let person = Importer(into: store, StarWars.Person.self, matching: .unique(\.url))
      _ = try await person.run(pages("[\(people.joined(separator: ","))]"), renaming: [:])
      var films = Importer(into: store, StarWars.Film.self, matching: .unique(\.url))
      films.keyName = "url"
      films.links = [.init("characters", StarWars.Film.characters, by: \.url)]
      let text = #"""
        {"4": {"title": "A New Hope", "characters": {"a": {}, "b": "1.0"}},
        "5": {"title": "The Empire Strikes Back", "characters": {}}}
        """#
      let report = try await films.run(pages(text), renaming: [:])
      #expect(report.links?.added == 2 && report.links?.unresolved == 0, "\(report)")
      let film = try #require(
        try await store.fetch(StarWars.Film.where { $0.url == "4" }).first)
      let names = try await store.read {
        try $0.related(StarWars.Film.characters, of: film.id).map(\.name)
      }
      #expect(names.sorted() == ["a", "b"])
    }
  }
}
