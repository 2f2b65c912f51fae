#if Macros
  import Foundation
  import Lodestore
  import Testing

  // The shortest useful program, in as few lines as a person would write. Films are fetched
  // elsewhere, replaced in one batch, and listed by episode.
  enum FilmsProgram {
    // Program begins.
    @Entity struct Film {
      #Unique<Film>([\.episode])
      var episode: Int
      var title: String
      var director: String
    }

    static func refresh(_ store: Store, with films: [Film]) async throws -> [Film] {
      try await store.write { tx in
        try tx.delete(Film.where { $0.episode.isIn(films.map(\.episode)) })
        try tx.insert(films)
      }
      return try await store.fetch(Film.all.sorted(by: \.episode))
    }
    // Program ends.
  }

  @Suite struct `The films program` {
    @Test func `the films program replaces films and lists them, in 15 lines`() async throws {
      let store = try Store.inMemory(entities: [FilmsProgram.Film.self])
      let old = [5, 4].map { FilmsProgram.Film(episode: $0, title: "old \($0)", director: "L") }
      _ = try await FilmsProgram.refresh(store, with: old)
      let new = [6, 4].map { FilmsProgram.Film(episode: $0, title: "new \($0)", director: "L") }
      let films = try await FilmsProgram.refresh(store, with: new)
      #expect(films.map(\.title) == ["new 4", "old 5", "new 6"])

      let text = try String(contentsOfFile: #filePath, encoding: .utf8)
      let lines = text.split(separator: "\n").map { $0.drop { $0 == " " } }
      let begin = try #require(lines.firstIndex(of: "// Program begins."))
      let end = try #require(lines.firstIndex(of: "// Program ends."))
      // Two more lines are needed for the import and for opening the store.
      #expect(lines[begin + 1..<end].count + 2 <= 15)
      store.close()
    }
  }
#endif
