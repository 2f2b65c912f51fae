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
    try await fill(store)
  }

  static func fill(_ store: Store) async throws {
    let films = [
      Film(title: "The Phantom Menace", episode: 1, year: 1999),
      Film(title: "Attack of the Clones", episode: 2, year: 2002),
      Film(title: "Revenge of the Sith", episode: 3, year: 2005),
      Film(title: "Star Wars", episode: 4, year: 1977),
      Film(title: "The Empire Strikes Back", episode: 5, year: 1980),
      Film(title: "Return of the Jedi", episode: 6, year: 1983),
    ]
    let result = try await store.write { tx in
      try tx.insert(films, onConflict: .replace)
    }
    print(result.insertedCount, "new,", result.updatedCount, "changed")
  }
}
