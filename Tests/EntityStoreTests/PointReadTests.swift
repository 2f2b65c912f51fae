import Testing

@testable import EntityStore

/// Reads of one record after the other in one transaction, which take another way than the first.
@Suite struct `Point reads` {
  private func films(_ numbers: inout SeededNumbers) -> [Film] {
    (0..<3_000).map { place in
      // Some are so long that they have pages of their own.
      let length = numbers.oneIn(200) ? 6_000 : numbers.below(90)
      return Film(
        title: String(repeating: "x", count: length), episode: place * 3,
        code: numbers.oneIn(2) ? nil : "c\(place)")
    }
  }

  @Test func `each finds its record or none, by id and by every kind of key`() throws {
    var numbers = SeededNumbers(salt: 961)
    let films = films(&numbers)
    try withTemporaryStore([Film.self, PersonV1.self]) { store in
      let ids = try store.write { try $0.insert(contentsOf: films) }.ids
      let gone = Set((0..<500).map { _ in ids[numbers.below(3_000)] })
      try store.write { transaction in
        for id in gone { try transaction.delete(Film.self, id: id) }
        try transaction.insert(PersonV1(name: "Ada", email: nil, age: 36))
      }
      let check = { (transaction: borrowing Snapshot) in
        for _ in 0..<2_000 {
          let place = numbers.below(3_000)
          let wanted = gone.contains(ids[place]) ? nil : films[place]
          #expect(try transaction.fetch(Film.self, id: ids[place])?.title == wanted?.title)
          let byEpisode = try transaction.fetch(Film.byEpisode, key: place * 3)
          #expect(byEpisode?.title == wanted?.title)
          #expect(try transaction.fetch(Film.byEpisode, key: place * 3 + 1) == nil)
          let byCode = try transaction.fetch(Film.byCode, key: films[place].code)
          if let code = films[place].code { #expect(byCode?.code == wanted.map { _ in code }) }
          // Null is in a unique index as often as there are records without a value.
          if films[place].code == nil { #expect(byCode != nil && byCode?.code == nil) }
          #expect(
            try transaction.fetch(Film.byTitle, key: films[place].title)?.title
              ?? films[place].title == films[place].title)
          #expect(try transaction.fetch(PersonV1.self, id: RecordID(rawValue: 1))?.name == "Ada")
        }
        for id in [0, 3_001, UInt64.max] {
          #expect(try transaction.fetch(Film.self, id: RecordID(rawValue: id)) == nil)
        }
      }
      try store.read { try check($0) }
    }
  }

  @Test func `a write reads what it has changed`() throws {
    var numbers = SeededNumbers(salt: 962)
    let films = films(&numbers)
    try withTemporaryStore([Film.self]) { store in
      let ids = try store.write { try $0.insert(contentsOf: films) }.ids
      try store.write { transaction in
        for place in 0..<500 {
          #expect(try transaction.fetch(Film.byEpisode, key: place * 3)?.id == ids[place])
          var film = films[place]
          film.id = ids[place]
          film.episode = -place - 1
          try transaction.update(film)
          #expect(try transaction.fetch(Film.byEpisode, key: place * 3) == nil)
          #expect(try transaction.fetch(Film.self, id: ids[place])?.episode == -place - 1)
        }
      }
    }
  }
}
