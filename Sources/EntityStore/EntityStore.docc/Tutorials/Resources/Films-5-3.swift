import Lodestore

@Entity
struct Film {
  #Unique<Film>([\.episode])
  #Index<Film>([\.year])

  var title: String
  var episode: Int
  var year: Int
  var isSeen: Bool = false
  var stars: Double = 2.5
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
    let changes = try Store.schemaChanges(
      at: "films.lodestore", opening: [Film.self, Person.self], migrating: stages)
    for change in changes { print(change) }
  }

  static let stages = [
    MigrationStage(
      to: 1,
      .convert("rating", of: "Film") { (rating: Int) in Double(rating) / 2 },
      .rename("rating", of: "Film", to: "stars"))
  ]

  static func show(_ store: Store) async throws {
    let best = Film.all.sorted(by: \.stars.descending, \.year.ascending).limit(3)
    for film in try await store.fetch(best) {
      print(film.stars, film.title)
    }
  }
}
