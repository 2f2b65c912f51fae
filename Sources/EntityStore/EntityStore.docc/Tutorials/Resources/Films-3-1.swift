import Lodestore

@Entity
struct Film {
  #Unique<Film>([\.episode])
  #Index<Film>([\.year])

  var title: String
  var episode: Int
  var year: Int
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
      year: Int(record.release_date.prefix(4)) ?? 0)
  }
}

@main
struct Films {
  static func main() async throws {
    let store = try Store(at: "films.lodestore", entities: [Film.self])
    try await read(CommandLine.arguments.dropFirst(), into: store)
    try await show(store)
  }

  static func read(_ paths: ArraySlice<String>, into store: Store) async throws {
    let importer = Importer(into: store, Film.self, matching: .unique(\.episode))
    for path in paths {
      let report = try await importer.run(FilePages.json(path), records: "results") {
        (record: FilmRecord) in Film(record)
      }
      print(report)
    }
  }

  static func show(_ store: Store) async throws {
    for film in try await store.fetch(Film.all.sorted(by: \.year)) {
      print(film.year, film.title)
    }
  }
}
