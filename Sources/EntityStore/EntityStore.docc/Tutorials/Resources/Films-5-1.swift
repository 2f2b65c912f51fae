import Lodestore

@Entity
struct Film {
  #Unique<Film>([\.episode])
  #Index<Film>([\.year])

  var title: String
  var episode: Int
  var year: Int
  var isSeen: Bool = false
  var rating: Int = 5
  @Relationship var director: Person.ID?

  static let history = HistoryPolicy<Film>.kept(images: true)
}

@Entity
struct Person {
  #Unique<Person>([\.name])

  var name: String
  static let films = ToMany<Person, Film>(inverse: \.director)
}

@main
struct Films {
  static func main() async throws {
    let store = try Store(at: "films.lodestore", entities: [Film.self, Person.self])
    try await rate(store)
    try await show(store)
  }

  static func rate(_ store: Store) async throws {
    try await store.write { tx in
      try tx.modify(Film.key(episode: 5)) { $0.rating = 9 }
      try tx.modify(Film.key(episode: 8)) { $0.rating = 8 }
    }
  }

  static func show(_ store: Store) async throws {
    let best = Film.all.sorted(by: \.rating.descending, \.year.ascending).limit(3)
    for film in try await store.fetch(best) {
      print(film.rating, film.title)
    }
  }
}
