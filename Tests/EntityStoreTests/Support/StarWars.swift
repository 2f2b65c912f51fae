import EntityStore

// The six entities of the Star Wars API with their relationships. The address of a record is its
// unique key.

/// The entities and their relationships.
enum StarWars {
  static let entities: [any Entity.Type] = [
    Film.self, Person.self, Planet.self, Species.self, Starship.self, Vehicle.self,
  ]

  struct Film: Equatable, Entity {
    var id = RecordID<Film>()
    var url: String
    var title: String

    static let characters = ToMany<Film, Person>()
    static let planets = ToMany<Film, Planet>()
    static let starships = ToMany<Film, Starship>()
    static let vehicles = ToMany<Film, Vehicle>()
    static let species = ToMany<Film, Species>()

    struct Attributes: Sendable {
      var url: Attribute<Film, String> { .init(0) }
      var title: Attribute<Film, String> { .init(1) }
      var characters: ToMany<Film, Person> { Film.characters }
      var planets: ToMany<Film, Planet> { Film.planets }
      var starships: ToMany<Film, Starship> { Film.starships }
      var vehicles: ToMany<Film, Vehicle> { Film.vehicles }
      var species: ToMany<Film, Species> { Film.species }
    }

    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<Film>(
      "Film", attributes: [.init("url", \.url), .init("title", \.title)], unique: [[\.url]],
      relationships: [
        .init("characters", characters), .init("planets", planets), .init("starships", starships),
        .init("vehicles", vehicles), .init("species", species),
      ])

    func encode(into writer: inout RecordWriter) {
      writer.write(url)
      writer.write(title)
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      url = try reader.read()
      title = try reader.read()
    }
  }

  struct Person: Equatable, Entity {
    var id = RecordID<Person>()
    var url: String
    var name: String
    var homeworld: Planet.ID?

    static let films = ToMany<Person, Film>(inverse: Film.characters)
    static let species = ToMany<Person, Species>()
    static let vehicles = ToMany<Person, Vehicle>()
    static let starships = ToMany<Person, Starship>()

    struct Attributes: Sendable {
      var url: Attribute<Person, String> { .init(0) }
      var name: Attribute<Person, String> { .init(1) }
      var homeworld: Attribute<Person, Planet.ID?> { .init(2) }
      var films: ToMany<Person, Film> { Person.films }
      var species: ToMany<Person, Species> { Person.species }
      var vehicles: ToMany<Person, Vehicle> { Person.vehicles }
      var starships: ToMany<Person, Starship> { Person.starships }
    }

    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<Person>(
      "Person",
      attributes: [.init("url", \.url), .init("name", \.name), .toOne("homeworld", \.homeworld)],
      unique: [[\.url]],
      relationships: [
        .init("films", films), .init("species", species), .init("vehicles", vehicles),
        .init("starships", starships),
      ])

    func encode(into writer: inout RecordWriter) {
      writer.write(url)
      writer.write(name)
      writer.write(homeworld)
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      url = try reader.read()
      name = try reader.read()
      homeworld = try reader.read()
    }
  }

  struct Planet: Equatable, Entity {
    var id = RecordID<Planet>()
    var url: String
    var name: String

    static let films = ToMany<Planet, Film>(inverse: Film.planets)
    static let residents = ToMany<Planet, Person>(inverse: \Person.homeworld)

    struct Attributes: Sendable {
      var url: Attribute<Planet, String> { .init(0) }
      var name: Attribute<Planet, String> { .init(1) }
      var films: ToMany<Planet, Film> { Planet.films }
    }

    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<Planet>(
      "Planet", attributes: [.init("url", \.url), .init("name", \.name)], unique: [[\.url]],
      relationships: [.init("films", films), .init("residents", residents)])

    func encode(into writer: inout RecordWriter) {
      writer.write(url)
      writer.write(name)
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      url = try reader.read()
      name = try reader.read()
    }
  }

  struct Species: Equatable, Entity {
    var id = RecordID<Species>()
    var url: String
    var name: String
    var homeworld: Planet.ID?

    static let films = ToMany<Species, Film>(inverse: Film.species)
    static let people = ToMany<Species, Person>(inverse: Person.species)

    struct Attributes: Sendable {
      var url: Attribute<Species, String> { .init(0) }
      var name: Attribute<Species, String> { .init(1) }
      var homeworld: Attribute<Species, Planet.ID?> { .init(2) }
      var films: ToMany<Species, Film> { Species.films }
      var people: ToMany<Species, Person> { Species.people }
    }

    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<Species>(
      "Species",
      attributes: [.init("url", \.url), .init("name", \.name), .toOne("homeworld", \.homeworld)],
      unique: [[\.url]],
      relationships: [.init("films", films), .init("people", people)])

    func encode(into writer: inout RecordWriter) {
      writer.write(url)
      writer.write(name)
      writer.write(homeworld)
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      url = try reader.read()
      name = try reader.read()
      homeworld = try reader.read()
    }
  }

  struct Starship: Equatable, Entity {
    var id = RecordID<Starship>()
    var url: String
    var name: String

    static let films = ToMany<Starship, Film>(inverse: Film.starships)
    static let pilots = ToMany<Starship, Person>(inverse: Person.starships)

    struct Attributes: Sendable {
      var url: Attribute<Starship, String> { .init(0) }
      var name: Attribute<Starship, String> { .init(1) }
      var films: ToMany<Starship, Film> { Starship.films }
      var pilots: ToMany<Starship, Person> { Starship.pilots }
    }

    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<Starship>(
      "Starship", attributes: [.init("url", \.url), .init("name", \.name)], unique: [[\.url]],
      relationships: [.init("films", films), .init("pilots", pilots)])

    func encode(into writer: inout RecordWriter) {
      writer.write(url)
      writer.write(name)
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      url = try reader.read()
      name = try reader.read()
    }
  }

  struct Vehicle: Equatable, Entity {
    var id = RecordID<Vehicle>()
    var url: String
    var name: String

    static let films = ToMany<Vehicle, Film>(inverse: Film.vehicles)
    static let pilots = ToMany<Vehicle, Person>(inverse: Person.vehicles)

    struct Attributes: Sendable {
      var url: Attribute<Vehicle, String> { .init(0) }
      var name: Attribute<Vehicle, String> { .init(1) }
      var films: ToMany<Vehicle, Film> { Vehicle.films }
      var pilots: ToMany<Vehicle, Person> { Vehicle.pilots }
    }

    static var attributes: Attributes { Attributes() }

    static let schema = EntitySchema<Vehicle>(
      "Vehicle", attributes: [.init("url", \.url), .init("name", \.name)], unique: [[\.url]],
      relationships: [.init("films", films), .init("pilots", pilots)])

    func encode(into writer: inout RecordWriter) {
      writer.write(url)
      writer.write(name)
    }

    init(from reader: inout RecordReader) throws(StoreError) {
      url = try reader.read()
      name = try reader.read()
    }
  }
}
