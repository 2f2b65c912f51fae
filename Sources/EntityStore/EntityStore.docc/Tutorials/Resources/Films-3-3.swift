import Lodestore

@Entity
struct Film {
  #Unique<Film>([\.episode])
  #Index<Film>([\.year])

  var title: String
  var episode: Int
  var year: Int
  @Relationship var director: Person.ID?
}

@Entity
struct Person {
  #Unique<Person>([\.name])

  var name: String
  static let films = ToMany<Person, Film>(inverse: \.director)
}

struct FilmRecord: Decodable {
  var title: String
  var episode_id: Int
  var release_date: String
}

extension Film {
  init(_ record: FilmRecord) {
    self.init(
      title: record.title, episode: record.episode_id,
      year: Int(record.release_date.prefix(4)) ?? 0, director: nil)
  }
}

@main
struct Films {
  static func main() async throws {
    let store = try Store(at: "films.lodestore", entities: [Film.self, Person.self])
    try await read(CommandLine.arguments.dropFirst(), into: store)
    try await show(store)
  }

  static func read(_ paths: ArraySlice<String>, into store: Store) async throws {
    var importer = Importer(into: store, Film.self, matching: .unique(\.episode))
    importer.links = [.init("director", \.director, by: \.name, makesMissing: true)]
    for path in paths {
      let report = try await importer.run(FilePages.json(path), records: "results") {
        (record: FilmRecord) in Film(record)
      }
      print(report)
    }
  }

  static func show(_ store: Store) async throws {
    try await store.read { snapshot in
      let directors = Person.where { $0.films.count >= 2 }.sorted(by: \.name)
      let films = Film.all.sorted(by: \.year)
      for (person, films) in try snapshot.fetch(directors, including: Person.films, films) {
        print(person.name, films.map(\.year))
      }
      for (film, director) in try snapshot.fetch(films.limit(2), including: \.director) {
        print(film.title, "by", director?.name ?? "nobody")
      }
    }
  }
}
