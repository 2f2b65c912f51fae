import Lodestore

@Entity
struct Film {
  #Unique<Film>([\.episode])
  #Index<Film>([\.year])

  var title: String
  var episode: Int
  var year: Int
  var isSeen: Bool = false
  var rating: Double = 2.5
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
    do {
      let store = try Store(at: "films.lodestore", entities: [Film.self, Person.self])
      try await show(store)
    } catch let error as StoreError {
      print(error)
    }
  }

  static func show(_ store: Store) async throws {
    let best = Film.all.sorted(by: \.rating.descending, \.year.ascending).limit(3)
    for film in try await store.fetch(best) {
      print(film.rating, film.title)
    }
  }
}
