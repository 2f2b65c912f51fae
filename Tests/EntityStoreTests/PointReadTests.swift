import Testing

@testable import EntityStore

/// Later reads of single records in one transaction use another code path than the first read.
@Suite struct `Point reads` {
  private func films(_ numbers: inout SeededNumbers) -> [Film] {
    (0..<3_000).map { index in
      // Some titles are so long that their records are on overflow pages.
      let length = numbers.oneIn(200) ? 6_000 : numbers.below(90)
      return Film(
        title: String(repeating: "x", count: length), episode: index * 3,
        code: numbers.oneIn(2) ? nil : "c\(index)")
    }
  }

  @Test func `a point read finds its record or no record, by id and by every kind of key`() throws {
    var numbers = SeededNumbers(salt: 961)
    let films = films(&numbers)
    try withTemporaryStore([Film.self, PersonV1.self]) { store in
      let ids = try store.write { try $0.insert(films) }.ids
      let gone = Set((0..<500).map { _ in ids[numbers.below(3_000)] })
      try store.write { transaction in
        for id in gone { try transaction.delete(id) }
        try transaction.insert(PersonV1(name: "Ada", email: nil, age: 36))
      }
      let check = { (transaction: borrowing Snapshot) in
        for _ in 0..<2_000 {
          let index = numbers.below(3_000)
          let wanted = gone.contains(ids[index]) ? nil : films[index]
          #expect(try transaction.fetch(ids[index])?.title == wanted?.title)
          let byEpisode = try transaction.fetch(Film.byEpisode.key(index * 3))
          #expect(byEpisode?.title == wanted?.title)
          #expect(try transaction.fetch(Film.byEpisode.key(index * 3 + 1)) == nil)
          let byCode = try transaction.fetch(Film.byCode.key(films[index].code))
          if let code = films[index].code { #expect(byCode?.code == wanted.map { _ in code }) }
          // Many records may have null in a unique index, so any of them is a right answer.
          if films[index].code == nil { #expect(byCode != nil && byCode?.code == nil) }
          #expect(
            try transaction.fetch(Film.byTitle.key(films[index].title))?.title
              ?? films[index].title == films[index].title)
          #expect(try transaction.fetch(RecordID<PersonV1>(rawValue: 1))?.name == "Ada")
        }
        for id in [0, 3_001, UInt64.max] {
          #expect(try transaction.fetch(RecordID<Film>(rawValue: id)) == nil)
        }
      }
      try store.read { try check($0) }
    }
  }

  @Test func `a write reads its own changes by point reads`() throws {
    var numbers = SeededNumbers(salt: 962)
    let films = films(&numbers)
    try withTemporaryStore([Film.self]) { store in
      let ids = try store.write { try $0.insert(films) }.ids
      try store.write { transaction in
        for index in 0..<500 {
          #expect(try transaction.fetch(Film.byEpisode.key(index * 3))?.id == ids[index])
          var film = films[index]
          film.id = ids[index]
          film.episode = -index - 1
          try transaction.update(film)
          #expect(try transaction.fetch(Film.byEpisode.key(index * 3)) == nil)
          #expect(try transaction.fetch(ids[index])?.episode == -index - 1)
        }
      }
    }
  }
}
