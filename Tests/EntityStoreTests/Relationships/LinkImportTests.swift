import EntityStore
import Foundation
import Testing

@Suite struct `Imports with links` {
  typealias Film = StarWars.Film
  typealias Person = StarWars.Person
  typealias Planet = StarWars.Planet
  typealias Species = StarWars.Species
  typealias Starship = StarWars.Starship
  typealias Vehicle = StarWars.Vehicle

  /// The import of one entity, with its links.
  private struct One: Sendable {
    let file: String
    let run: @Sendable (Store, [Data]) async throws -> ImportReport
  }

  private static func one<E: Entity>(
    _ file: String, _ key: any KeyPath<E, String> & Sendable, _ links: [ImportLink<E>]
  ) -> One {
    One(file: file) { store, pages in
      var importer = Importer(into: store, E.self, matching: .unique(key))
      importer.links = links
      return try await importer.run(
        AsyncStream { continuation in
          for page in pages { continuation.yield(page) }
          continuation.finish()
        }, records: "results", renaming: [:])
    }
  }

  private static let all: [One] = [
    one(
      "films", \Film.url,
      [
        .init("characters", Film.characters, by: \.url), .init("planets", Film.planets, by: \.url),
        .init("starships", Film.starships, by: \.url), .init("vehicles", Film.vehicles, by: \.url),
        .init("species", Film.species, by: \.url),
      ]),
    one(
      "people", \Person.url,
      [
        .init("films", Person.films, by: \.url), .init("species", Person.species, by: \.url),
        .init("vehicles", Person.vehicles, by: \.url),
        .init("starships", Person.starships, by: \.url),
        .init("homeworld", \.homeworld, by: \.url),
      ]),
    one(
      "planets", \Planet.url,
      [.init("films", Planet.films, by: \.url), .init("residents", Planet.residents, by: \.url)]),
    one(
      "species", \Species.url,
      [
        .init("films", Species.films, by: \.url), .init("people", Species.people, by: \.url),
        .init("homeworld", \.homeworld, by: \.url),
      ]),
    one(
      "starships", \Starship.url,
      [.init("films", Starship.films, by: \.url), .init("pilots", Starship.pilots, by: \.url)]),
    one(
      "vehicles", \Vehicle.url,
      [.init("films", Vehicle.films, by: \.url), .init("pilots", Vehicle.pilots, by: \.url)]),
  ]

  /// The pages of a file of the shared data; `nil` if the file does not exist.
  private static func pages(_ name: String) -> [Data]? {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../../shared/data/swapi/\(name).jsonl").standardizedFileURL
    return (try? Data(contentsOf: file))?.split(separator: 10).map { Data($0) }
  }

  /// The pairs of addresses that the records' member names, found by a plain loop over the file.
  private static func pairs(_ file: String, _ member: String) throws -> Set<[String]> {
    var found: Set<[String]> = []
    for page in pages(file) ?? [] {
      let object = try JSONSerialization.jsonObject(with: page) as? [String: Any]
      for record in object?["results"] as? [[String: Any]] ?? [] {
        guard let url = record["url"] as? String else { continue }
        let keys = record[member] as? [String] ?? (record[member] as? String).map { [$0] } ?? []
        for key in keys { found.insert([url, key]) }
      }
    }
    return found
  }

  /// The linked pairs of a relationship in a store.
  private static func pairs<E: Entity, Target: Entity>(
    _ snapshot: borrowing Snapshot, _ relationship: ToMany<E, Target>,
    _ url: KeyPath<E, String>, _ other: KeyPath<Target, String>
  ) throws -> Set<[String]> {
    var found: Set<[String]> = []
    for record in try snapshot.fetch(E.all) {
      for related in try snapshot.related(relationship, of: record.id) {
        found.insert([record[keyPath: url], related[keyPath: other]])
      }
    }
    return found
  }

  private static func expectLinks(_ store: Store) throws {
    try store.read { snapshot throws in
      let characters = try pairs(snapshot, Film.characters, \.url, \.url)
      #expect(try characters == pairs("films", "characters"))
      let films = try pairs(snapshot, Person.films, \.url, \.url)
      #expect(try films == pairs("people", "films"))
      let planets = try pairs(snapshot, Film.planets, \.url, \.url)
      #expect(try planets == pairs("films", "planets"))
      let starships = try pairs(snapshot, Starship.pilots, \.url, \.url)
      #expect(try starships == pairs("starships", "pilots"))
      let vehicles = try pairs(snapshot, Person.vehicles, \.url, \.url)
      #expect(try vehicles == pairs("people", "vehicles"))
      let species = try pairs(snapshot, Species.people, \.url, \.url)
      #expect(try species == pairs("species", "people"))
      let residents = try pairs(snapshot, Planet.residents, \.url, \.url)
      #expect(try residents == pairs("planets", "residents"))
      let homes = try snapshot.fetch(Species.all, including: \.homeworld).compactMap { one in
        one.related.map { [one.record.url, $0.url] }
      }
      #expect(try Set(homes) == pairs("species", "homeworld"))
    }
  }

  @Test(
    .enabled(if: pages("films") != nil, "../shared/data/swapi is not there"),
    arguments: [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [1, 0, 3, 2, 5, 4]])
  func `imports of a whole service agree in any order, and the second changes nothing`(
    order: [Int]
  ) async throws {
    try await withTemporaryStore(StarWars.entities) { store in
      for position in order {
        let one = Self.all[position]
        let report = try await one.run(store, Self.pages(one.file) ?? [])
        #expect(report.rejected == 0, "\(report)")
      }
      // A link to a record imported later is also named by that record. Only species and their
      // homes are named on one side.
      let again = try await Self.all[3].run(store, Self.pages("species") ?? [])
      #expect(again.links?.unresolved == 0, "\(again)")
      try Self.expectLinks(store)
      for one in Self.all {
        let report = try await one.run(store, Self.pages(one.file) ?? [])
        #expect(report.inserted == 0 && report.updated == 0, "\(one.file): \(report)")
        #expect(report.links?.added == 0, "\(one.file): \(report)")
        #expect(report.links?.removed == 0, "\(one.file): \(report)")
        #expect(report.links?.unresolved == 0, "\(one.file): \(report)")
      }
      try Self.expectLinks(store)
    }
  }

  private func page(_ text: String) -> [Data] { [Data(text.utf8)] }

  @Test func `imports make missing linked records by option`() async throws {
    try await withTemporaryStore(Library.entities) { store in
      var importer = Importer(into: store, Shelf.self, matching: .unique(\.name))
      importer.links = [.init("owner", Shelf.books, by: \.title)]
      let missing = await #expect(throws: StoreError.self) {
        try await importer.run(stream(page("[{}]")), renaming: [:])
      }
      #expect(missing?.code == .unknownIndex, "\(missing?.message ?? "")")
      var authors = Importer(into: store, Author.self, matching: .unique(\.name))
      authors.links = [.init("teacher", \.teacher, by: \.name, makesMissing: true)]
      let text =
        #"[{"name": "Aristotle", "teacher": "Plato"}, {"name": "Plato", "teacher": "Socrates"}]"#
      let report = try await authors.run(stream(page(text)), renaming: [:])
      // Plato comes later in the same page, so the link creates only Socrates.
      #expect(report.links?.made == 1 && report.inserted == 2, "\(report)")
      #expect(try await store.count(Author.all) == 3)
      #expect(try await store.fetch(Author.where { $0.teacher[\.name] == "Plato" }).count == 1)
    }
  }

  @Test func `imports report links without a target, with page and record`() async throws {
    try await withTemporaryStore(Library.entities) { store in
      var authors = Importer(into: store, Author.self, matching: .unique(\.name))
      authors.links = [.init("teacher", \.teacher, by: \.name)]
      let text =
        #"[{"name": "Aristotle", "teacher": "Plato"}, {"name": "Plato", "teacher": "Socrates"}]"#
      let report = try await authors.run(stream(page(text)), renaming: [:])
      // The link to the record that came later in the import is resolved at the end of the import.
      #expect(report.links?.unresolved == 1, "\(report)")
      #expect(report.links?.added == 1)
      let unresolved = report.links?.unresolvedKeys.first
      #expect(unresolved?.page == 1 && unresolved?.record == 2)
      #expect(unresolved?.member == "teacher")
      #expect(unresolved?.key.contains("Socrates") == true)
      #expect(report.description.contains("Socrates"), "\(report)")
      let kept = try await store.read { try $0.importReports(of: "Author") }
      #expect(kept.last?.links == report.links)
    }
  }

  /// A link's key may be a text, as the key attribute requires, or wrongly a number, a list or an
  /// object.
  @Test(arguments: [false, true])
  func `links of an import match only values of the key's type`(makesMissing: Bool) async throws {
    try await withTemporaryStore(Library.entities) { store in
      try await store.insert(["", "5", "[1]", "true", "a"].map { Author(name: $0) })
      var authors = Importer(into: store, Author.self, matching: .unique(\.name))
      authors.links = [.init("teacher", \.teacher, by: \.name, makesMissing: makesMissing)]
      let keys = ["5", "true", "[1]", "[[]]", #"[{"name":"a"}]"#, "1.5", "1e400"]
      let records = keys.enumerated().map { #"{"name":"x\#($0)","teacher":\#($1)}"# }
      let report = try await authors.run(
        stream(page("[\(records.joined(separator: ","))]")), renaming: [:])
      #expect(report.links?.unresolved == keys.count, "\(report)")
      #expect(report.links?.added == 0 && report.links?.made == 0, "\(report)")
      let told = report.links?.unresolvedKeys.map(\.key)
      #expect(told?.contains("5") == true && told?.contains("true") == true, "\(report)")
      #expect(try await store.fetch(Author.all).allSatisfy { $0.teacher == nil })
    }
  }

  @Test func `imports remove links that a page no longer has`() async throws {
    try await withTemporaryStore(Library.entities) { store in
      try await store.write { tx throws in
        try tx.insert((1...3).map { Author(name: "A\($0)") })
      }
      var pupils = Importer(into: store, Author.self, matching: .unique(\.name))
      pupils.links = [.init("pupils", Author.pupils, by: \.name)]
      let first = try await pupils.run(
        stream(page(#"[{"name": "A1", "pupils": ["A2", "A3"]}]"#)), renaming: [:])
      #expect(first.links?.added == 2, "\(first)")
      let second = try await pupils.run(
        stream(page(#"[{"name": "A1", "pupils": ["A3"]}]"#)), renaming: [:])
      #expect(second.links?.removed == 1 && second.links?.added == 0, "\(second)")
      let third = try await pupils.run(stream(page(#"[{"name": "A1"}]"#)), renaming: [:])
      #expect(third.links?.removed ?? 0 == 0, "\(third)")
      let count = try await store.read {
        try $0.relatedCount(Author.pupils, of: .init(rawValue: 1))
      }
      #expect(count == 1)
    }
  }

  @Test func `imports count links to one record as links to many`() async throws {
    try await withTemporaryStore(Library.entities) { store in
      try await store.insert((1...3).map { Author(name: "A\($0)") })
      var pupils = Importer(into: store, Author.self, matching: .unique(\.name))
      pupils.links = [.init("teacher", \.teacher, by: \.name)]
      /// The numbers of links that an import of `text` adds and removes.
      func links(_ text: String) async throws -> [Int] {
        let report = try await pupils.run(stream(page(text)), renaming: [:])
        return [report.links?.added ?? 0, report.links?.removed ?? 0]
      }
      // The page has one new and one stored record. A second import of the same page changes
      // nothing.
      let two = #"[{"name": "B", "teacher": "A1"}, {"name": "A2", "teacher": "A1"}]"#
      #expect(try await links(two) == [2, 0])
      #expect(try await links(two) == [0, 0])
      // One link moves to another record, one is removed, and one leads to a record of the same
      // page.
      #expect(try await links(#"[{"name": "B", "teacher": "A3"}]"#) == [1, 0])
      #expect(try await links(#"[{"name": "B", "teacher": null}]"#) == [0, 1])
      #expect(
        try await links(#"[{"name": "C", "teacher": "D"}, {"name": "D", "teacher": "A1"}]"#)
          == [2, 0])
      // One name is in both pages, so each page is written alone.
      let pages = [#"[{"name": "E", "teacher": "A1"}]"#, #"[{"name": "E", "teacher": "A2"}]"#]
      let report = try await pupils.run(stream(pages.map { Data($0.utf8) }), renaming: [:])
      #expect(report.links?.added == 2 && report.links?.removed == 0, "\(report)")
      #expect(try await store.count(Author.where { $0.teacher != nil }) == 4)
    }
  }

  /// The result is the same whether or not the pages are written together.
  @Test(arguments: [1, 524_288])
  func `the last page of a record determines its links`(groupRecordLimit: Int) async throws {
    try await withTemporaryStore(Library.entities) { store in
      try await store.insert((1...3).map { Author(name: "A\($0)") })
      var pupils = Importer(into: store, Author.self, matching: .unique(\.name))
      pupils.links = [.init("pupils", Author.pupils, by: \.name)]
      pupils.options.groupRecordLimit = groupRecordLimit
      let pages = [
        #"[{"name": "A1", "pupils": ["A2", "B"]}]"#, #"[{"name": "A1", "pupils": ["A3"]}]"#,
        #"[{"name": "B"}]"#,
      ]
      for isFirst in [true, false] {
        let report = try await pupils.run(stream(pages.map { Data($0.utf8) }), renaming: [:])
        let names = try await store.read {
          try $0.related(Author.pupils, of: .init(rawValue: 1)).map(\.name)
        }
        #expect(names == ["A3"])
        // The pages are applied one after the other, so an intermediate link counts as added and
        // removed.
        #expect(report.links?.added == (isFirst ? 2 : 3), "\(report)")
        #expect(report.links?.removed == (isFirst ? 1 : 3), "\(report)")
        #expect(report.links?.unresolved == 0, "\(report)")
      }
    }
  }

  private func stream(_ pages: [Data]) -> AsyncStream<Data> {
    AsyncStream { continuation in
      for page in pages { continuation.yield(page) }
      continuation.finish()
    }
  }
}
