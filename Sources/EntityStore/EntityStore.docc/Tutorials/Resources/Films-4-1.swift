import Foundation
import Lodestore
import LodestoreWeb

@Entity
struct Film {
  #Unique<Film>([\.episode])
  #Index<Film>([\.year])

  var title: String
  var episode: Int
  var year: Int
  var isSeen: Bool = false
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
    if let url = CommandLine.arguments.dropFirst().first.flatMap({ URL(string: $0) }) {
      try await read(url, into: store)
    }
    try await tick(before: 1990, in: store)
    try await show(store)
  }

  static func tick(before year: Int, in store: Store) async throws {
    let earlier = Film.where {
      $0.year < year
      !$0.isSeen
    }
    let count = try await store.write { tx in
      try tx.update(earlier) { $0.isSeen = true }
    }
    print(count, "ticked off")
  }

  static func read(_ url: URL, into store: Store) async throws {
    var importer = Importer(into: store, Film.self, matching: .unique(\.episode))
    importer.links = [.init("director", \.director, by: \.name, makesMissing: true)]
    let pages = WebPages(url, paging: .nextLink(at: "next"))
    let report = try await importer.run(pages, records: "results") {
      (record: FilmRecord) in Film(record)
    }
    print(report)
  }

  static func show(_ store: Store) async throws {
    let seen = try await store.count(Film.where { $0.isSeen })
    print(seen, "of", try await store.count(Film.all), "films seen")
  }
}
