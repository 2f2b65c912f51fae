import EntityStore
import Foundation
import Synchronization
import Testing

/// Imports with links from a source that reports its unchanged pages.
///
/// The deletion of a linked record changes no page, but the page's links must be made again.
@Suite struct `Remembered links` {
  /// A source with pages of JSON text that never change; it notes the pages that it sent.
  private final class Service: PageSource {
    let sent = Mutex<[Int]>([])
    private let pages: [String]

    init(_ pages: [String]) { self.pages = pages }

    func pages(
      from position: String?, remembered: @escaping @Sendable (String) -> PageMemory?
    ) -> AsyncStream<ImportPage> {
      AsyncStream { continuation in
        for (index, page) in pages.enumerated() {
          let isKnown = remembered("page \(index)")?.entityTag == "tag"
          if !isKnown { sent.withLock { $0.append(index) } }
          continuation.yield(
            ImportPage(
              content: isKnown ? nil : Data(page.utf8),
              memory: PageMemory(name: "page \(index)", entityTag: "tag"),
              next: index + 1 < pages.count ? "\(index + 1)" : nil))
        }
        continuation.finish()
      }
    }
  }

  private typealias Film = StarWars.Film
  private typealias Person = StarWars.Person

  private static let films = [
    #"[{"url": "f/1", "title": "A", "characters": ["p/1", "p/2"]}]"#,
    #"[{"url": "f/2", "title": "B", "characters": ["p/3"]}, {"url": "f/3", "title": "C"}]"#,
  ]
  private static let people = [
    #"[{"url": "p/1", "name": "1"}, {"url": "p/2", "name": "2"}, {"url": "p/3", "name": "3"}]"#
  ]
  /// Imports pages of an entity with its links; returns the numbers of the pages that the source
  /// sent.
  @discardableResult
  private func run<E: Entity>(
    _ store: Store, _ key: any KeyPath<E, String> & Sendable, _ links: [ImportLink<E>],
    _ pages: [String]
  ) async throws -> [Int] {
    let service = Service(pages)
    var importer = Importer(into: store, E.self, matching: .unique(key))
    importer.links = links
    let report = try await importer.run(service, renaming: [:])
    #expect(report.rejected == 0, "\(report)")
    return service.sent.withLock { $0 }
  }

  private func runFilms(_ store: Store) async throws -> [Int] {
    try await run(
      store, \Film.url, [.init("characters", Film.characters, by: \.url)], Self.films)
  }

  private func runPeople(_ store: Store) async throws -> [Int] {
    try await run(store, \Person.url, [], Self.people)
  }

  private func names(_ store: Store, _ film: String) async throws -> [String] {
    try await store.read { snapshot throws in
      let film = try #require(try snapshot.first(Film.where { $0.url == film }))
      return try snapshot.related(Film.characters, of: film.id).map(\.name).sorted()
    }
  }

  @Test func `remembered links come back when others deleted their targets`() async throws {
    try await withTemporaryStore(StarWars.entities) { store in
      #expect(try await runPeople(store) == [0])
      #expect(try await runFilms(store) == [0, 1])
      #expect(try await runFilms(store) == [])
      try await store.write { _ = try $0.delete(Person.where { $0.url == "p/2" }) }
      #expect(try await names(store, "f/1") == ["1"])
      #expect(try await runPeople(store) == [0])
      // The import requests the film's page again, and no other page.
      #expect(try await runFilms(store) == [0])
      #expect(try await names(store, "f/1") == ["1", "2"])
      #expect(try await runFilms(store) == [])
      #expect(try await runPeople(store) == [])
    }
  }

  @Test func `remembered links come back whichever side is imported first`() async throws {
    try await withTemporaryStore(StarWars.entities) { store in
      #expect(try await runPeople(store) == [0])
      #expect(try await runFilms(store) == [0, 1])
      try await store.write { _ = try $0.delete(Person.where { $0.url == "p/3" }) }
      #expect(try await runFilms(store) == [1])
      #expect(try await names(store, "f/2") == [])
      // While the person is missing, the import requests no page of films.
      #expect(try await runFilms(store) == [])
      #expect(try await runPeople(store) == [0])
      #expect(try await runFilms(store) == [1])
      #expect(try await names(store, "f/2") == ["3"])
      #expect(try await runFilms(store) == [])
    }
  }

  @Test func `remembered links come back when others removed them`() async throws {
    try await withTemporaryStore(StarWars.entities) { store in
      #expect(try await runPeople(store) == [0])
      #expect(try await runFilms(store) == [0, 1])
      try await store.write { tx in
        let film = try #require(try tx.first(Film.where { $0.url == "f/1" }))
        let person = try #require(try tx.first(Person.where { $0.url == "p/2" }))
        try tx.remove([person.id], from: Film.characters, of: film.id)
      }
      #expect(try await runFilms(store) == [0])
      #expect(try await names(store, "f/1") == ["1", "2"])
    }
  }

  @Test func `remembered links without a target are made once their records exist`() async throws {
    try await withTemporaryStore(StarWars.entities) { store in
      #expect(try await runFilms(store) == [0, 1])
      #expect(try await runFilms(store) == [])
      _ = try await run(store, \Person.url, [], [#"[{"url": "p/1", "name": "1"}]"#])
      #expect(try await runFilms(store) == [0])
      #expect(try await names(store, "f/1") == ["1"])
      #expect(try await run(store, \Person.url, [], Self.people + ["[]"]) == [1])
      try await store.write { tx in
        try tx.delete(Person.all)
      }
      #expect(try await run(store, \Person.url, [], Self.people) == [0])
      #expect(try await runFilms(store) == [0, 1])
      #expect(try await names(store, "f/1") == ["1", "2"])
      #expect(try await runFilms(store) == [])
    }
  }

  @Test func `remembered links to one, and of its inverse, come back too`() async throws {
    try await withTemporaryStore(StarWars.entities) { store in
      func runPeople() async throws -> [Int] {
        try await run(
          store, \Person.url, [.init("homeworld", \.homeworld, by: \.url)],
          [#"[{"url": "p/1", "name": "1", "homeworld": "w/1"}]"#])
      }
      func runPlanets() async throws -> [Int] {
        try await run(
          store, \StarWars.Planet.url,
          [.init("residents", StarWars.Planet.residents, by: \.url)],
          [#"[{"url": "w/1", "name": "W", "residents": ["p/1"]}]"#])
      }
      func expectHome() async throws {
        let people = try await store.read {
          try $0.fetch(Person.all, including: \.homeworld).map(\.related?.name)
        }
        #expect(people == ["W"])
        #expect(try await runPeople() == [])
        #expect(try await runPlanets() == [])
      }
      #expect(try await runPeople() == [0])
      // The records have no links yet.
      #expect(try await runPeople() == [])
      #expect(try await runPlanets() == [0])
      #expect(try await runPeople() == [0])
      try await expectHome()
      try await store.write { _ = try $0.delete(StarWars.Planet.all) }
      #expect(try await runPeople() == [0])
      #expect(try await runPlanets() == [0])
      #expect(try await runPeople() == [0])
      try await expectHome()
      try await store.write { _ = try $0.delete(Person.all) }
      #expect(try await runPeople() == [0])
      #expect(try await runPlanets() == [0])
      try await expectHome()
    }
  }

  @Test func `an import with a new relationship requests its pages again once`() async throws {
    try await withTemporaryStore(StarWars.entities) { (store: Store) async throws in
      #expect(try await runPeople(store) == [0])
      #expect(try await run(store, \Film.url, [], Self.films) == [0, 1])
      #expect(try await runFilms(store) == [0, 1])
      #expect(try await names(store, "f/1") == ["1", "2"])
      #expect(try await runFilms(store) == [])
    }
  }
}
