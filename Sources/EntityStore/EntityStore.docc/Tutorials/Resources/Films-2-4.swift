import Lodestore

@Entity
struct Film {
  #Unique<Film>([\.episode])
  #Index<Film>([\.year])

  var title: String
  var episode: Int
  var year: Int
}

@main
struct Films {
  static func main() async throws {
    let store = try Store(at: "films.lodestore", entities: [Film.self])
    try await fill(store)
    try await show(store)
    try await follow(store)
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

  static func show(_ store: Store) async throws {
    let recent = Film.where {
      $0.year >= 1980
      !$0.title.hasPrefix("The ")
    }
    for film in try await store.fetch(recent.sorted(by: \.year.descending).limit(2)) {
      print(film.year, film.title)
    }
    print(try await store.count(recent), "in all")
    let later = Film.where { $0.year >= 1990 }
    try await store.read { snapshot in
      print(try snapshot.count(later), "later than 1990")
      print(try snapshot.explain(later))
      print(try snapshot.explain(later, for: .count))
    }
  }

  static func follow(_ store: Store) async throws {
    for try await update in store.updates(of: Film.all.sorted(by: \.year)) {
      guard let difference = update.difference else {
        print(update.items.count, "films on the list")
        try await store.delete(Film.where { $0.year.isIn(1999...2005) })
        continue
      }
      print(update.items.count, "films on the list,", difference.deleted.count, "rows went")
      break
    }
  }
}
