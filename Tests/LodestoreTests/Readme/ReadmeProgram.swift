#if Macros
  import Foundation
  import Lodestore
  import Testing

  // The Swift of README.md. `ReadmeTests` runs it, and checks that the README says the same.

  @Entity
  struct Film {
    #Unique<Film>([\.episode])
    #Index<Film>([\.releasedAt])

    var title: String
    var episode: Int
    var director: String = "unknown"
    var releasedAt: Date
  }

  struct FilmRecord: Decodable {
    var title: String
    var episode_id: Int
    var director: String
    var release_date: Date
  }

  struct ReadmeProgram {
    let pages: AsyncStream<Data>
    let path: String

    func run() async throws -> (films: [Film], report: ImportReport) {
      let store = try Store(at: path, entities: [Film.self])

      // Imports pages of a web service. Each page is stored whole or not at all.
      let importer = Importer(into: store, Film.self, matching: .unique(\.episode))
      let report = try await importer.run(pages, records: "results") { (film: FilmRecord) in
        Film(
          title: film.title, episode: film.episode_id, director: film.director,
          releasedAt: film.release_date)
      }
      print(report)  // 9 inserted, 0 updated, 0 unchanged, 0 rejected

      // One writer at a time. All changes of the closure are stored, or none.
      try await store.write { tx in
        try tx.modify(Film.key(episode: 4)) { $0.title = "Star Wars" }
        try tx.update(Film.where { $0.director == "unknown" }) { $0.director = "George Lucas" }
      }

      // Any number of readers. Each reads one commit, which does not change meanwhile.
      let newest = try await store.fetch(
        Film.where {
          $0.director != "George Lucas"
          $0.episode >= 4
        }
        .sorted(by: \.releasedAt.descending).limit(3))
      #expect(try queriesAgree(in: store))
      #expect(try letters(in: store) == 92)
      return (newest, report)
    }

    /// A page that collides with an earlier one is left out.
    func insert(_ pages: [[Film]], into store: Store) async throws {
      try await store.write { tx in
        for page in pages { _ = try? tx.savepoint { try $0.insert(page) } }
      }
    }

    func open() async throws -> Store {
      let store = try await Store.open(at: path, entities: [Film.self]) { print($0.fraction ?? 0) }
      return store
    }

    private func letters(in store: Store) throws -> Int {
      var letters = 0
      try store.read { snapshot in
        try snapshot.forEachView(Film.where { $0.episode >= 4 }) { film in
          if film.director != "George Lucas" { letters += film.title.utf8Count }
        }
      }
      return letters
    }

    private func queriesAgree(in store: Store) throws -> Bool {
      let found = try store.read { snapshot in
        let byLines = try snapshot.fetch(Film.where { $0.title.hasPrefix("The ") })
        let byMacro = try snapshot.fetch(Film.where(#Predicate { $0.title.starts(with: "The ") }))
        let byFormat = try snapshot.fetch(Film.where(format: "title BEGINSWITH %@", "The "))
        return [byLines, byMacro, byFormat]
      }
      return found.allSatisfy { $0.count == 5 && $0.map(\.title) == found[0].map(\.title) }
    }
  }
#endif
