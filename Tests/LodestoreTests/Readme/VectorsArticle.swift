#if Macros
  import Lodestore
  import Testing

  // The Swift of the article Vectors.

  enum VectorsArticle {
    @Entity struct Note {
      #Vector<Note>(\.embedding, dimensions: 384)

      var text: String
      var language: String
      var embedding: Vector?

      #Index<Note>([\.language])
    }

    @Entity struct Photo {
      #Vector<Photo>(\.scene, dimensions: 3)
      #Vector<Photo>(\.color, dimensions: 3)

      var scene: Vector
      var color: Vector
    }

    static func printing(_ question: Vector, in store: Store) throws {
      let nearest = Note.where { $0.isNear(question, by: .cosine) }.sortedByDistance().limit(10)
      for note in try store.fetch(nearest) {
        print(note.text, note.embedding?.distance(to: question, by: .cosine) ?? .nan)
      }
    }
  }

  @Suite struct `The article about vectors` {
    typealias Note = VectorsArticle.Note

    private func vector(_ angle: Int) -> Vector {
      var values = [Float](repeating: 0, count: 384)
      values[0] = 10
      values[1] = Float(angle)
      return Vector(values)
    }

    private func note(_ angle: Int) -> Note {
      Note(text: "\(angle)", language: angle % 2 == 0 ? "de" : "en", embedding: vector(angle))
    }

    @Test func `the nearest notes are first, also among those of a language`() throws {
      let store = try Store.inMemory(entities: [Note.self])
      defer { store.close() }
      try store.insert((0..<50).map(note) + [Note(text: "none", language: "de", embedding: nil)])
      let question = vector(8)
      let nearest = Note.where { $0.isNear(question, by: .cosine) }.sortedByDistance().limit(10)
      try VectorsArticle.printing(question, in: store)
      let found = try store.fetch(nearest)
      #expect(found.prefix(3).map(\.text) == ["8", "9", "7"])
      let german = Note.where {
        $0.isNear(question, by: .cosine); $0.language == "de"
      }
      .sortedByDistance().limit(10)
      #expect(try store.fetch(german).prefix(3).map(\.text) == ["8", "10", "6"])
      let thorough = Note.where { $0.isNear(question, by: .cosine, candidates: 20_000) }
        .sortedByDistance().limit(10)
      #expect(try store.fetch(thorough).map(\.text) == found.map(\.text))
      let error = #expect(throws: StoreError.self) {
        try store.insert(Note(text: "", language: "", embedding: [1, 2]))
      }
      #expect(error?.code == .invalidValue)
    }

    @Test func `an attribute names the vector that is meant`() throws {
      typealias Photo = VectorsArticle.Photo
      let store = try Store.inMemory(entities: [Photo.self])
      defer { store.close() }
      try store.insert([
        Photo(scene: [1, 0, 0], color: [0, 1, 0]), Photo(scene: [0, 1, 0], color: [0.9, 0, 0]),
      ])
      let red = Photo.where { $0.color.isNear([1, 0, 0], by: .euclidean) }
        .sortedByDistance().limit(5)
      #expect(try store.fetch(red).map(\.scene) == [[0, 1, 0], [1, 0, 0]])
    }
  }
#endif
