import Lodestore

@Entity
struct Film {
  #Unique<Film>([\.episode])

  var title: String
  var episode: Int
  var year: Int
}

@main
struct Films {
  static func main() async throws {
    let store = try Store(at: "films.lodestore", entities: [Film.self])
    print(try await store.count(Film.all), "films")
  }
}
