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
    do {
      try await store.write { tx in
        try tx.insert(Film(title: "A New Hope", episode: 4, year: 1977))
        try tx.insert(Film(title: "The Empire Strikes Back", episode: 5, year: 1980))
      }
    } catch let error as StoreError {
      print(error)
    }
    print(try await store.count(Film.all), "films")
  }
}
