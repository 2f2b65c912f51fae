import EntityStore
import Foundation

/// The first declaration of a program: an entity under another name, with other types.
struct OldMovie: Entity, Equatable {
  var id = RecordID<OldMovie>()
  var name: String
  var episode: Int
  var year: Int?
  var rating: Int?
  var director: String
  var studio: OldStudio.ID?

  init(_ name: String, episode: Int, year: Int? = nil, director: String = "Ann Bee") {
    self.name = name
    self.episode = episode
    self.year = year
    self.director = director
  }

  static let schema = EntitySchema<OldMovie>(
    "Movie",
    attributes: [
      .init("name", \.name), .init("episode", \.episode), .init("year", \.year),
      .init("rating", \.rating), .init("director", \.director), .toOne("studio", \.studio),
    ],
    unique: [[\.episode]], indexes: [[\.year, \.name]])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    episode = try reader.read()
    year = try reader.read()
    rating = try reader.read()
    director = try reader.read()
    studio = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(episode)
    writer.write(year)
    writer.write(rating)
    writer.write(director)
    writer.write(studio)
  }
}

struct OldStudio: Entity, Equatable {
  var id = RecordID<OldStudio>()
  var name: String

  init(_ name: String) { self.name = name }

  static let schema = EntitySchema<OldStudio>("Studio", attributes: [.init("name", \.name)])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

/// The current declaration.
struct NewMovie: Entity, Equatable {
  var id = RecordID<NewMovie>()
  var name: String
  private(set) var sortName = ""
  var episode: String
  var released: Date?
  var rating: Double
  var firstName: String
  var lastName: String

  static let studios = ToMany<NewMovie, NewStudio>(inverse: NewStudio.movies)

  struct Attributes: Sendable {
    var id: Attribute<NewMovie, NewMovie.ID> { .recordID }
    var name: Attribute<NewMovie, String> { .init(0) }
    var sortName: Attribute<NewMovie, String> {
      get { .init(1) }
      set {}
    }
    var episode: Attribute<NewMovie, String> { .init(2) }
    var released: Attribute<NewMovie, Date?> { .init(3) }
    var rating: Attribute<NewMovie, Double> { .init(4) }
    var firstName: Attribute<NewMovie, String> { .init(5) }
    var lastName: Attribute<NewMovie, String> { .init(6) }
    var studios: ToMany<NewMovie, NewStudio> { NewMovie.studios }
  }

  static var attributes: Attributes { Attributes() }

  static let schema = EntitySchema<NewMovie>(
    "Film",
    attributes: [
      .init("name", \.name), .derived("sortName", \.sortName, .lowercase(\.name)),
      .init("episode", \.episode), .init("released", \.released), .init("rating", \.rating),
      .init("firstName", \.firstName), .init("lastName", \.lastName),
    ],
    unique: [[\.episode]], indexes: [[\.released, \.name], [\.sortName]],
    relationships: [.init("studios", studios)])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    sortName = try reader.read()
    episode = try reader.read()
    released = try reader.read()
    rating = try reader.read()
    firstName = try reader.read()
    lastName = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) {
    writer.write(name)
    writer.write(episode)
    writer.write(released)
    writer.write(rating)
    writer.write(firstName)
    writer.write(lastName)
  }
}

struct NewStudio: Entity, Equatable {
  var id = RecordID<NewStudio>()
  var name: String
  private(set) var movieCount = 0

  static let movies = ToMany<NewStudio, NewMovie>()

  static let schema = EntitySchema<NewStudio>(
    "Studio",
    attributes: [
      .init("name", \.name), .derived("movieCount", \.movieCount, .count(movies)),
    ],
    relationships: [.init("movies", movies)])

  init(from reader: inout RecordReader) throws(StoreError) {
    name = try reader.read()
    movieCount = try reader.read()
    id = reader.id()
  }

  func encode(into writer: inout RecordWriter) { writer.write(name) }
}

enum Movies {
  static let old: [any Entity.Type] = [OldMovie.self, OldStudio.self]
  static let new: [any Entity.Type] = [NewMovie.self, NewStudio.self]

  /// The stages from the old declarations to the new ones.
  static let stages = [
    MigrationStage(
      to: 1, .rename(entity: "Movie", to: "Film"),
      .convert("episode", of: "Film", to: String.self),
      .convert("year", of: "Film") { (year: Int) in "\(year)-01-01T00:00:00Z" },
      .rename("year", of: "Film", to: "released")),
    MigrationStage(
      to: 2, .convert("released", of: "Film", to: Date?.self),
      .convert("rating", of: "Film", to: Double?.self),
      .require("rating", of: "Film", default: 2.5),
      .add("firstName", to: "Film", initial: ""), .add("lastName", to: "Film", initial: ""),
      .map("Film") { film in
        let names = (film["director"] ?? "").split(separator: " ").map(String.init)
        film["firstName"] = names.first ?? ""
        film["lastName"] = names.dropFirst().joined(separator: " ")
      },
      .remove("director", of: "Film"),
      .toMany("studio", of: "Film", as: "studios")),
  ]

  /// A file of the old declarations with `count` movies and two studios.
  static func make(at path: String, count: Int) throws {
    let store = try Store(at: path, entities: old)
    try store.write { tx throws in
      let studios = try tx.insert([OldStudio("S"), OldStudio("T")]).ids
      try tx.insert(
        (0..<count).map { number in
          var movie = OldMovie(
            "Name \(number)", episode: number, year: number % 7 == 0 ? nil : 1900 + number % 120)
          movie.rating = number % 3 == 0 ? nil : number % 5
          movie.studio = number % 4 == 0 ? nil : studios[number % 2]
          return movie
        })
    }
    store.close()
  }

  /// Throws unless the file has the migrated content of ``make(at:count:)``.
  static func expectNew(_ store: Store, count: Int) throws -> Bool {
    let films = try store.fetch(NewMovie.all)
    guard films.count == count else { return false }
    for (number, film) in films.enumerated() {
      let year = number % 7 == 0 ? nil : 1900 + number % 120
      let date = year.flatMap { try? Date("\($0)-01-01T00:00:00Z", strategy: .iso8601) }
      guard film.name == "Name \(number)", film.sortName == "name \(number)",
        film.episode == "\(number)", film.released == date,
        film.rating == (number % 3 == 0 ? 2.5 : Double(number % 5)), film.firstName == "Ann",
        film.lastName == "Bee"
      else { return false }
    }
    let studios = try store.fetch(NewStudio.all)
    let linked = (0..<count).filter { $0 % 4 != 0 }
    return studios.map(\.movieCount) == [0, 1].map { side in linked.count { $0 % 2 == side } }
  }
}
