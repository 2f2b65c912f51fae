import Lodestore

/// A film with its related records, read in one commit.
package struct FilmDetail: Sendable {
  package let film: Film
  /// The characters of the film, with their homeworlds.
  package let characters: [(person: Person, homeworld: Planet?)]
  package let planets: [Planet]
  package let species: [Species]
  /// The starships, each with its pilots, but only the pilots who are characters of the film.
  package let starships: [(ship: Starship, pilots: [Person])]
  package let vehicles: [Vehicle]
}

extension FilmLibrary {
  /// Returns the film with an episode, or `nil`.
  package func detail(episode: Int) async throws -> FilmDetail? {
    try await store.read { snapshot in
      guard let film = try snapshot.fetch(Film.key(episodeId: episode)) else { return nil }
      return FilmDetail(
        film: film,
        characters: try snapshot.fetch(
          Person.where { $0.films.contains(film.id) }.sorted(by: \.name), including: \.homeworld
        ).map { ($0.record, $0.related) },
        planets: try snapshot.related(Film.planets, of: film.id, Planet.all.sorted(by: \.name)),
        species: try snapshot.related(Film.species, of: film.id, Species.all.sorted(by: \.name)),
        starships: try snapshot.fetch(
          Starship.where { $0.films.contains(film.id) }.sorted(by: \.name),
          including: Starship.pilots, Person.where { $0.films.contains(film.id) }
        ).map { ($0.record, $0.related) },
        vehicles: try snapshot.related(Film.vehicles, of: film.id, Vehicle.all.sorted(by: \.name)))
    }
  }
}
