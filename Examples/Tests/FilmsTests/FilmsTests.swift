import Films
import Lodestore
import Service
import TestSupport
import Testing

@Suite struct `Films` {
  /// Runs `body` with an empty library and a service of the project's samples.
  private func withLibrary(
    _ faults: Faults = Faults(), _ body: (FilmLibrary, Service) async throws -> Void
  ) async throws {
    let service = try await Service.start(try .samples(), faults: faults)
    do {
      try await withStorePath { path in
        let library = try FilmLibrary(at: path)
        defer { library.store.close() }
        try await body(library, service)
      }
    } catch {
      await service.stop()
      throw error
    }
    await service.stop()
  }

  @Test func `films come with all linked records`() async throws {
    try await withLibrary { library, service in
      var steps: [FilmLibrary.Step] = []
      try await library.synchronize(with: service.url) { steps.append($0) }
      #expect(steps.count == FilmLibrary.stepCount)
      for step in steps {
        #expect(step.report.inserted > 0 && step.report.rejected == 0, "\(step.report)")
        #expect(step.report.links?.unresolved ?? 0 == 0, "\(step.name): \(step.report)")
      }
      #expect(try await library.store.fetch(FilmLibrary.films).map(\.episodeId) == Array(1...6))
      let detail = try #require(try await library.detail(episode: 4))
      #expect(detail.film.title == "A New Hope")
      let luke = detail.characters.first { $0.person.name == "Luke Skywalker" }
      #expect(luke?.homeworld?.name == "Tatooine")
      #expect(detail.planets.map(\.name) == ["Alderaan", "Tatooine", "Yavin 4"])
      let falcon = detail.starships.first { $0.ship.name == "Millennium Falcon" }
      #expect(Set(falcon?.pilots.map(\.name) ?? []) == ["Chewbacca", "Han Solo"])
      #expect(try await library.detail(episode: 9)?.film == nil)
    }
  }

  @Test func `films are not sent again while nothing has changed`() async throws {
    try await withLibrary { library, service in
      try await library.synchronize(with: service.url)
      let count = service.requests.count
      try await library.synchronize(with: service.url)
      let again = service.requests.dropFirst(count)
      #expect(again.count == count && again.allSatisfy { $0.status == 304 })
    }
  }

  @Test func `films that are deleted in a batch come back with their links`() async throws {
    try await withLibrary { library, service in
      try await library.synchronize(with: service.url)
      var updates = library.store.updates(of: FilmLibrary.films).makeAsyncIterator()
      #expect(try await updates.next()?.items.count == 6)

      #expect(try await library.delete(episodes: [1, 3, 9]) == 2)
      let without = try #require(try await updates.next())
      #expect(without.items.map(\.episodeId) == [2, 4, 5, 6])
      #expect(without.difference?.deleted.map(\.index) == [0, 2])

      try await library.synchronize(with: service.url)
      let whole = try #require(try await updates.next())
      #expect(whole.difference?.inserted.map(\.index) == [0, 2])
      #expect(try await library.detail(episode: 3)?.characters.isEmpty == false)
    }
  }

  @Test func `films come through an unreliable service`() async throws {
    try await withLibrary(Faults(failsEvery: 3, breaksOffEvery: 4)) { library, service in
      try await library.synchronize(with: service.url)
      #expect(try await library.store.count(FilmLibrary.films) == 6)
      #expect(try await library.store.count(Person.all) == 20)
    }
  }
}
