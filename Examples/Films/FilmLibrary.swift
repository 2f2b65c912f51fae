import Foundation
import Lodestore
import LodestoreWeb

/// The films of a service, kept in a store.
package struct FilmLibrary: Sendable {
  /// The store of the films.
  package let store: Store

  /// Opens the store at `path`, or makes it.
  package init(at path: String) throws {
    store = try Store(at: path, entities: filmEntities)
  }

  /// A library in memory, for previews and tests.
  package init() throws { store = try Store.inMemory(entities: filmEntities) }

  /// The films in the order of their episodes.
  package static var films: Query<Film> { Film.all.sorted(by: \.episodeId) }

  /// Deletes the films with these episodes in one batch, and returns how many there were.
  package func delete(episodes: [Int]) async throws -> Int {
    try await store.delete(Film.where { $0.episodeId.isIn(episodes) })
  }
}

// MARK: Synchronizing

extension FilmLibrary {
  /// The report on the records of one entity.
  package struct Step: Sendable {
    /// The entity's name at the service, for example `planets`.
    package let name: String
    /// The numbers of inserted, updated and deleted records.
    package let report: ImportReport
  }

  /// The number of steps of a synchronization.
  package static let stepCount = 6

  /// Updates the store from the service.
  ///
  /// Readers are not blocked. Each page is one commit. The service does not send pages again that
  /// have not changed since the previous call. Records that the service no longer has are deleted.
  ///
  /// - Parameter onStep: The closure that is called after each entity.
  package func synchronize(
    with service: URL, onStep: (Step) -> Void = { _ in }
  ) async throws {
    // Targets come before the records that refer to them, because a record's links are imported
    // with the record.
    onStep(try await step(service, "planets", Planet.self, \.url))
    onStep(try await step(service, "starships", Starship.self, \.url))
    onStep(try await step(service, "vehicles", Vehicle.self, \.url))
    onStep(
      try await step(
        service, "species", Species.self, \.url,
        links: [.init("homeworld", \.homeworld, by: \.url)]))
    onStep(
      try await step(
        service, "people", Person.self, \.url, renaming: ["birth_year": "birthYear"],
        links: [
          .init("homeworld", \.homeworld, by: \.url),
          .init("species", Person.species, by: \.url),
          .init("starships", Person.starships, by: \.url),
          .init("vehicles", Person.vehicles, by: \.url),
        ]))
    onStep(
      try await step(
        service, "films", Film.self, \.episodeId,
        renaming: ["episode_id": "episodeId", "release_date": "releaseDate"],
        links: [
          .init("characters", Film.characters, by: \.url),
          .init("planets", Film.planets, by: \.url),
          .init("species", Film.species, by: \.url),
          .init("starships", Film.starships, by: \.url),
          .init("vehicles", Film.vehicles, by: \.url),
        ]))
  }

  private func step<E: Entity>(
    _ service: URL, _ name: String, _ type: E.Type, _ key: any PartialKeyPath<E> & Sendable,
    renaming names: [String: String] = [:], links: [ImportLink<E>] = []
  ) async throws -> Step {
    var importer = Importer(into: store, type, matching: .unique(key), strategy: .mirror)
    importer.links = links
    let pages = WebPages(
      service.appending(path: "api/\(name)/"), paging: .nextLink(at: "next"))
    return Step(
      name: name,
      report: try await importer.run(pages, records: "results", renaming: names))
  }
}
