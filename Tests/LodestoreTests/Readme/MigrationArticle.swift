#if Macros
  import Foundation
  import Lodestore
  import Testing

  // The Swift of the article Migration.

  enum MigrationArticle {
    enum Before {
      @Entity(name: "Movie") struct Movie {
        #Unique<Movie>([\.episode])
        var title: String
        var episode: Int
        var year: Int?
        var rating: Double?
        var director: String
        @Relationship var studio: RecordID<MigrationArticle.Before.Studio>?
      }

      @Entity struct Studio {
        var name: String
      }
    }

    @Entity struct Film {
      #Unique<Film>([\.episode])
      #Index<Film>([\.released, \.title])
      var title: String
      var episode: String
      var released: Date?
      var rating: Double
      var firstName: String
      var lastName: String
      static let studios = ToMany<MigrationArticle.Film, MigrationArticle.Studio>()
    }

    struct Address: Codable, Sendable {
      var city: String
      var zip: String
    }

    @Entity struct Studio {
      var name: String
      static let films = ToMany<MigrationArticle.Studio, MigrationArticle.Film>(
        inverse: MigrationArticle.Film.studios)
    }
  }

  @Suite struct `The article on migration` {
    typealias Before = MigrationArticle.Before
    typealias Film = MigrationArticle.Film
    typealias Studio = MigrationArticle.Studio

    typealias Address = MigrationArticle.Address

    private func convertAddresses(_ path: String) throws {
      let addresses = [
        MigrationStage(
          to: 3,
          .convert("address", of: "Studio", to: Address.self) { address in
            address.rename("town", to: "city")
            if address["zip", as: String.self] == nil { address["zip"] = "" }
          })
      ]
      #expect(addresses.map(\.version) == [3])
    }

    private func open(_ path: String) async throws {
      var options = StoreOptions()
      options.buildsIndexesInUse = true
      let store = try Store(at: path, entities: [Film.self, Studio.self], options: options)
      for build in try store.indexBuilds() { print(build.attributes, build.progress.fraction ?? 1) }
      try await store.waitForIndexes()
    }

    @Test func `the programs of the article on migration run as described`() async throws {
      let path = FileManager.default.temporaryDirectory
        .appending(path: "migration-\(UUID().uuidString).lodestore").path
      defer {
        for end in ["", "-lock"] { try? FileManager.default.removeItem(atPath: path + end) }
      }
      try make(path)
      try migrate(path)
      try await open(path)
      try convertAddresses(path)
    }

    private func make(_ path: String) throws {
      let before = try Store(at: path, entities: [Before.Movie.self, Before.Studio.self])
      let studio = try before.insert(Before.Studio(name: "S"))
      try before.insert(
        (1...3).map {
          Before.Movie(
            title: "T\($0)", episode: $0, year: 1976 + $0, rating: nil, director: "Ann Bee",
            studio: studio.id)
        })
      before.close()
    }

    private func migrate(_ path: String) throws {
      let stages = [
        MigrationStage(
          to: 1, .rename(entity: "Movie", to: "Film"),
          .convert("episode", of: "Film", to: String.self),
          .convert("year", of: "Film") { (year: Int) in "\(year)-01-01T00:00:00Z" },
          .rename("year", of: "Film", to: "released")),
        MigrationStage(
          to: 2, .convert("released", of: "Film", to: Date.self),
          .require("rating", of: "Film", default: 2.5),
          .add("firstName", to: "Film", initial: ""), .add("lastName", to: "Film", initial: ""),
          .map("Film") { film in
            let names = (film["director"] ?? "").split(separator: " ").map(String.init)
            film["firstName"] = names.first ?? ""
            film["lastName"] = names.dropFirst().joined(separator: " ")
          },
          .remove("director", of: "Film"),
          .deduplicate("Film", by: "episode") { first, second in
            first["rating", as: Double.self] ?? 0 >= second["rating", as: Double.self] ?? 0
              ? .first : .second
          },
          .toMany("studio", of: "Film", as: "studios")),
      ]
      let changes = try Store.schemaChanges(
        at: path, opening: [Film.self, Studio.self], migrating: stages)
      for change in changes { print(change) }  // Film: new index on released+name (pass)

      #expect(!changes.contains { $0.cost == .refused })
      let store = try Store(at: path, entities: [Film.self, Studio.self], migrating: stages)
      let films = try store.fetch(Film.where { $0.studios.any { $0.name == "S" } })
      #expect(films.map(\.episode) == ["1", "2", "3"] && films[0].firstName == "Ann")
      #expect(films.allSatisfy { $0.rating == 2.5 && $0.released != nil })
    }
  }
#endif
