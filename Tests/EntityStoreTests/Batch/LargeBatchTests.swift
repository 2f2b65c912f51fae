import Testing

@testable import EntityStore

/// Batches with more records than the buffer for unwritten records holds.
@Suite struct `Large batches` {
  /// Films for several blocks of the buffer: most are short, and one is longer than a block.
  private func films(_ numbers: inout SeededNumbers) -> [Film] {
    (0..<3_000).map { index in
      let count = index == 1_700 ? 200_000 : numbers.oneIn(50) ? numbers.below(5_000) : 40
      return Film(
        title: String(repeating: numbers.oneIn(2) ? "a" : "ä", count: count), episode: index,
        code: numbers.oneIn(2) ? nil : "code \(index)")
    }
  }

  private func stored(_ store: Store) throws -> [Film] {
    try store.read { try $0.fetch(Film.all) }.map { film in
      var film = film
      film.id = .unassigned
      return film
    }
  }

  @Test func `an array and a lazy sequence insert equal records`() throws {
    var numbers = SeededNumbers(salt: 931)
    let films = films(&numbers)
    try withTemporaryStore([Film.self]) { store in
      let result = try store.write { try $0.insert(films) }
      #expect(result.ids.map(\.rawValue) == (1...3_000).map { UInt64($0) })
      #expect(try stored(store) == films)
    }
    try withTemporaryStore([Film.self]) { store in
      let result = try store.write { try $0.insert(films.lazy.map { $0 }) }
      #expect(result.insertedCount == 3_000)
      #expect(try stored(store) == films)
    }
  }

  @Test func `a batch that fails at its end has no effect, and its ids are given again`() throws {
    var numbers = SeededNumbers(salt: 932)
    let films = films(&numbers)
    try withTemporaryStore([Film.self]) { store in
      try store.write { transaction in
        try transaction.insert(Film(title: "first", episode: -1))
        _ = try storeError(.uniqueViolation) {
          try transaction.insert(films + [Film(title: "again", episode: 7)])
        }
        var known = Film(title: "known", episode: -2)
        known.id = RecordID(rawValue: 9)
        _ = try storeError(.invalidID) { try transaction.insert(films + [known]) }
        #expect(try transaction.count(Film.all) == 1)
        #expect(try transaction.count(Film.byEpisode, within: .init()) == 1)
        let result = try transaction.insert(films)
        #expect(result.ids.first?.rawValue == 2 && result.ids.last?.rawValue == 3_001)
      }
    }
  }

  @Test func `a failed batch whose entries another core collected has no effect`() throws {
    let films = (0..<30_000).map { Film(title: "film \($0 % 7_919)", episode: $0) }
    try withTemporaryStore([Film.self]) { store in
      try store.write { transaction in
        for index in [29_999, 22_500, 100] {
          var batch = films
          batch[index].id = RecordID(rawValue: 9)
          _ = try storeError(.invalidID) { try transaction.insert(batch) }
          batch[index].id = .unassigned
          batch[index].episode = index / 2
          _ = try storeError(.uniqueViolation) { try transaction.insert(batch) }
        }
        #expect(try transaction.count(Film.all) == 0)
        #expect(try transaction.insert(films).ids.last?.rawValue == 30_000)
      }
      let titles = try store.read { try $0.fetch(Film.byTitle) }.map(\.title)
      #expect(titles == titles.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
      #expect(titles.count == 30_000)
    }
  }

  @Test func `a merge of unsorted records changes only differing values, and moves their entries`()
    throws
  {
    var numbers = SeededNumbers(salt: 933)
    let films = films(&numbers)
    try withTemporaryStore([Film.self]) { store in
      try store.write { try $0.insert(films) }
      var changed = films
      for index in changed.indices where index.isMultiple(of: 2) {
        changed[index].title = "title \(numbers.below(100))"
      }
      let order = changed.indices.sorted { $0 * 7 % 3_000 < $1 * 7 % 3_000 }
      let result = try store.write {
        try $0.insert(order.map { changed[$0] }, onConflict: .replace)
      }
      #expect(result.updatedCount == 1_500 && result.unchangedCount == 1_500)
      #expect(result.ids.map(\.rawValue) == order.map { UInt64($0 + 1) })
      #expect(try stored(store) == changed)
    }
  }
}
