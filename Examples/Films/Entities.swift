import Foundation
import Lodestore

/// A film.
///
/// The program identifies it by its episode, the service by its address.
///
/// Its relationships are declared here; the other entities name their side as the inverse.
@Entity package struct Film {
  #Unique<Film>([\.episodeId], [\.url])

  package var url: String
  package var episodeId: Int
  package var title: String
  package var director: String
  package var producer: String
  package var releaseDate: Date

  package static let characters = ToMany<Film, Person>()
  package static let planets = ToMany<Film, Planet>()
  package static let species = ToMany<Film, Species>()
  package static let starships = ToMany<Film, Starship>()
  package static let vehicles = ToMany<Film, Vehicle>()
}

/// A person in films.
@Entity package struct Person {
  #Unique<Person>([\.url])

  package var url: String
  package var name: String
  package var birthYear: String
  @Relationship package var homeworld: Planet.ID?

  package static let films = ToMany<Person, Film>(inverse: Film.characters)
  package static let species = ToMany<Person, Species>()
  package static let starships = ToMany<Person, Starship>()
  package static let vehicles = ToMany<Person, Vehicle>()
}

/// A planet where films play and people come from.
@Entity package struct Planet {
  #Unique<Planet>([\.url])

  package var url: String
  package var name: String
  package var climate: String

  package static let films = ToMany<Planet, Film>(inverse: Film.planets)
  package static let residents = ToMany<Planet, Person>(inverse: \.homeworld)
}

/// A species of people.
@Entity package struct Species {
  #Unique<Species>([\.url])

  package var url: String
  package var name: String
  package var classification: String
  package var language: String
  @Relationship package var homeworld: Planet.ID?

  package static let films = ToMany<Species, Film>(inverse: Film.species)
  package static let people = ToMany<Species, Person>(inverse: Person.species)
}

/// A ship that travels between stars.
@Entity package struct Starship {
  #Unique<Starship>([\.url])

  package var url: String
  package var name: String
  package var model: String

  package static let films = ToMany<Starship, Film>(inverse: Film.starships)
  package static let pilots = ToMany<Starship, Person>(inverse: Person.starships)
}

/// A vehicle on a planet.
@Entity package struct Vehicle {
  #Unique<Vehicle>([\.url])

  package var url: String
  package var name: String
  package var model: String

  package static let films = ToMany<Vehicle, Film>(inverse: Film.vehicles)
  package static let pilots = ToMany<Vehicle, Person>(inverse: Person.vehicles)
}

/// The entities of the store of films.
package let filmEntities: [any Entity.Type] = [
  Film.self, Person.self, Planet.self, Species.self, Starship.self, Vehicle.self,
]
